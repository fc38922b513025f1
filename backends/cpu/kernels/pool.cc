#include <algorithm>

#include "backends/cpu/kernels/cast.h"
#include "backends/cpu/kernels/combine.h"
#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/kernels/fill.h"
#include "backends/cpu/kernels/windows.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/interrupt.h"
#include "ir/dispatch.h"

namespace burn::backends::cpu {
namespace {

// Calls body(plane, row) for every [n, c] plane; `row` is as wide as the input and belongs to the thread.
template <typename T, typename Body>
Status for_each_plane(Run& run, const Windows& windows, std::int64_t planes, const Body& body) {
  const auto work = planes * (windows.input_plane() + windows.output_plane());
  const auto parts = std::clamp<std::int64_t>(std::min<std::int64_t>(planes, work / kGrain), 1, thread_count());
  const auto width = windows.input[2];
  BURN_TRY(const auto scratch, run.pool.allocate(static_cast<std::size_t>(parts * width) * sizeof(T)));
  parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto part = begin; part < end; ++part) {
      T* row = reinterpret_cast<T*>(scratch->data()) + part * width;
      for (auto plane = planes * part / parts; plane < planes * (part + 1) / parts; ++plane) body(plane, row);
    }
  });
  return {};
}

// Calls body(y_row, height window, depth window) for every row of the output plane.
template <typename Body>
void for_each_row(const Windows& windows, const Body& body) {
  InterruptMeter meter;
  for (std::int64_t d = 0; d < windows.outputs(0); ++d) {
    for (std::int64_t h = 0; h < windows.outputs(1); ++h) {
      const auto &depth = windows.at(0, d), &height = windows.at(1, h);
      meter.add((depth.end - depth.begin) * (height.end - height.begin) * windows.input[2]);
      body((d * windows.outputs(1) + h) * windows.outputs(2), depth, height);
    }
  }
}

// Calls body(offset) for every input row that the two windows cover.
template <typename Body>
void for_each_input_row(const Windows& windows, const Window& depth, const Window& height, const Body& body) {
  for (auto d = depth.begin; d < depth.end; ++d) {
    for (auto h = height.begin; h < height.end; ++h) body((d * windows.input[1] + h) * windows.input[2]);
  }
}

// First the rows of a window are added, which vectorises, then the columns of the sum.
template <typename T>
void mean_plane(const Windows& windows, const T* x, T* y, T* row) {
  const auto width = windows.input[2];
  InterruptMeter meter;
  for_each_row(windows, [&](std::int64_t at, const Window& depth, const Window& height) {
    std::fill_n(row, width, T{0});
    for_each_input_row(windows, depth, height, [&](std::int64_t offset) {
      for (std::int64_t i = 0; i < width; ++i) row[i] += x[offset + i];
    });
    for (std::int64_t i = 0; i < windows.outputs(2); ++i) {
      const Window& window = windows.at(2, i);
      meter.add(window.end - window.begin);
      T sum = 0;
      for (auto k = window.begin; k < window.end; ++k) sum += row[k];
      y[at + i] = sum / static_cast<T>(depth.divisor * height.divisor * window.divisor);
    }
  });
}

template <typename T>
void spread_plane(const Windows& windows, const T* grad, T* x, T* row) {
  const auto width = windows.input[2];
  InterruptMeter meter;
  fill_zeros(x, windows.input_plane());
  for_each_row(windows, [&](std::int64_t at, const Window& depth, const Window& height) {
    std::fill_n(row, width, T{0});
    for (std::int64_t i = 0; i < windows.outputs(2); ++i) {
      const Window& window = windows.at(2, i);
      meter.add(window.end - window.begin);
      const T share = grad[at + i] / static_cast<T>(depth.divisor * height.divisor * window.divisor);
      for (auto k = window.begin; k < window.end; ++k) row[k] += share;
    }
    for_each_input_row(windows, depth, height, [&](std::int64_t offset) {
      for (std::int64_t i = 0; i < width; ++i) x[offset + i] += row[i];
    });
  });
}

enum class Direction { mean, spread };

// Make: a function from the shapes of input and output to windows. They are made for each run, after the result is
// allocated, so that a program cannot make them larger than the memory that it gets.
template <typename Make>
Kernel mean_kernel(const Signature& signature, Direction direction, const Make& make) {
  return [type = signature.result, direction, make](Run& run, std::span<Array> operands) -> Result<Array> {
    BURN_TRY(Array x, contiguous(run, operands[0]));
    BURN_TRY(x, cast(run, x, compute_dtype(type.dtype)));
    BURN_TRY(Array y, run.allocate({x.dtype(), type.shape}));
    const bool is_mean = direction == Direction::mean;
    BURN_TRY(const Windows windows, is_mean ? make(x.shape(), y.shape()) : make(y.shape(), x.shape()));
    const auto planes = type.shape[0] * type.shape[1];
    const auto compute = [&]<typename T>() -> Status {
      return for_each_plane<T>(run, windows, planes, [&](std::int64_t plane, T* row) {
        const auto inputs = plane * windows.input_plane(), outputs = plane * windows.output_plane();
        if (is_mean)
          mean_plane(windows, x.as<T>() + inputs, y.as<T>() + outputs, row);
        else
          spread_plane(windows, x.as<T>() + outputs, y.as<T>() + inputs, row);
      });
    };
    BURN_RETURN_IF_ERROR(x.dtype() == ir::DType::f64 ? compute.template operator()<double>()
                                                     : compute.template operator()<float>());
    return cast(run, y, type.dtype);
  };
}

template <typename T>
std::int64_t position_of_max(const Windows& windows, const T* x, const Window& depth, const Window& height,
                             const Window& width) {
  std::int64_t best = -1;
  T value{};
  for (auto d = depth.begin; d < depth.end; d += depth.step) {
    for (auto h = height.begin; h < height.end; h += height.step) {
      const auto row = (d * windows.input[1] + h) * windows.input[2];
      for (auto w = width.begin; w < width.end; w += width.step) {
        const T candidate = x[row + w];
        if (best >= 0 && (is_nan(value) || !(candidate > value || is_nan(candidate)))) continue;  // the first NaN wins
        best = row + w;
        value = candidate;
      }
    }
  }
  return best;
}

template <typename T>
void max_of_windows(const Windows& windows, std::int64_t planes, const T* x, T* values, std::int64_t* positions) {
  parallel_for(planes, kGrain / (4 * windows.output_plane()) + 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto plane = begin; plane < end; ++plane) {
      const T* image = x + plane * windows.input_plane();
      InterruptMeter meter;
      for_each_row(windows, [&](std::int64_t at, const Window& depth, const Window& height) {
        const auto rows = (depth.end - depth.begin) * (height.end - height.begin);
        for (std::int64_t i = 0; i < windows.outputs(2); ++i) {
          meter.add(rows * (windows.at(2, i).end - windows.at(2, i).begin));
          const auto to = plane * windows.output_plane() + at + i;
          positions[to] = position_of_max(windows, image, depth, height, windows.at(2, i));
          values[to] = image[positions[to]];
        }
      });
    }
  });
}

// Make: as mean_kernel's.
template <typename Make>
Kernel max_kernel(const Signature& signature, const Make& make) {
  return [make, type = signature.result](Run& run, std::span<Array> operands, std::span<Array> results) -> Status {
    BURN_TRY(Array x, contiguous(run, operands[0]));
    BURN_TRY(x, cast(run, x, compute_dtype(x.dtype())));
    BURN_TRY(Array values, run.allocate({x.dtype(), type.shape}));
    BURN_TRY(Array positions, run.allocate({ir::DType::i64, type.shape}));
    BURN_TRY(const Windows windows, make(x.shape(), values.shape()));
    ir::dispatch(x.dtype(), [&]<typename T>() {
      if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
        max_of_windows(windows, type.shape[0] * type.shape[1], x.as<T>(), values.as<T>(), positions.as<std::int64_t>());
      }
    });
    BURN_TRY(results[0], cast(run, values, type.dtype));
    results[1] = std::move(positions);
    return {};
  };
}

}  // namespace

namespace kernels {

Result<Kernel> prepare(const ir::AvgPool& op, const Signature& signature) {
  return mean_kernel(signature, Direction::mean, [op](const ir::Shape& input, const ir::Shape& output) {
    return sliding_windows(op, input, output);
  });
}

Result<Kernel> prepare(const ir::AvgPoolGrad& op, const Signature& signature) {
  const ir::AvgPool forward{op.kernel, op.stride, op.padding, op.count_include_pad, op.ceil_mode};
  return mean_kernel(signature, Direction::spread, [forward](const ir::Shape& input, const ir::Shape& output) {
    return sliding_windows(forward, input, output);
  });
}

Result<Kernel> prepare(const ir::AdaptiveAvgPool&, const Signature& signature) {
  return mean_kernel(signature, Direction::mean, adaptive_windows);
}

Result<Kernel> prepare(const ir::AdaptiveAvgPoolGrad&, const Signature& signature) {
  return mean_kernel(signature, Direction::spread, adaptive_windows);
}

Result<Kernel> prepare(const ir::MaxPool& op, const Signature& signature) {
  return max_kernel(
      signature, [op](const ir::Shape& input, const ir::Shape& output) { return sliding_windows(op, input, output); });
}

Result<Kernel> prepare(const ir::AdaptiveMaxPool&, const Signature& signature) {
  return max_kernel(signature, adaptive_windows);
}

}  // namespace kernels
}  // namespace burn::backends::cpu
