// Fft, RealFft, InverseRealFft: lines along the axis, several side by side, through a plan of their length.
#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <numbers>
#include <vector>

#include "backends/cpu/ops/copy.h"
#include "backends/cpu/ops/fft_plan.h"
#include "backends/cpu/ops/lines.h"
#include "backends/cpu/run.h"

namespace burn::backends::cpu {
namespace {

// Made by the first run, after it has the memory for its results: a length off the wire may be any.
template <typename T>
class LazyPlan {
 public:
  const FftPlan<T>& of(std::int64_t n) {
    std::call_once(once_, [&] { plan_ = std::make_unique<const FftPlan<T>>(n); });
    return *plan_;
  }

 private:
  std::once_flag once_;
  std::unique_ptr<const FftPlan<T>> plan_;
};

struct Plans {
  LazyPlan<float> f32;
  LazyPlan<double> f64;

  template <typename T>
  const FftPlan<T>& of(std::int64_t n) {
    if constexpr (std::is_same_v<T, float>)
      return f32.of(n);
    else
      return f64.of(n);
  }
};

// Lines that stay together in the caches. Half of one at least fills a vector.
std::int64_t width_of(const Lines& lines, std::int64_t n, std::size_t element) {
  constexpr std::int64_t kCache = 256 * 1024;  // bytes
  constexpr std::int64_t kMost = 16;
  const auto fit = kCache / (4 * std::max<std::int64_t>(n, 1) * static_cast<std::int64_t>(element));
  return std::clamp<std::int64_t>(std::min(fit, lines.count()), 1, kMost);
}

// Calls body(first line, lines, room) for a few lines at a time, on several threads. `n`: the length that is
// transformed, `room`: numbers for each.
template <typename T, typename Body>
Status for_lines(Run& run, const Lines& lines, std::int64_t n, const FftPlan<T>& plan, const Body& body) {
  const auto width = width_of(lines, n, sizeof(T));
  const auto blocks = (lines.count() + width - 1) / width;
  const auto parts = std::min<std::int64_t>(blocks, 4 * thread_count());
  const auto per_part = plan.room(width) + 2 * n * width;
  const auto grain = std::max<std::int64_t>(1, kGrain / (16 * n * width + 1));
  BURN_TRY(const auto room, run.pool.allocate(static_cast<std::size_t>(parts * per_part) * sizeof(T)));
  const auto blocks_per_part = (blocks + parts - 1) / std::max<std::int64_t>(1, parts);
  parallel_for(parts, std::max<std::int64_t>(1, grain / std::max<std::int64_t>(1, blocks_per_part)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (auto part = begin; part < end; ++part) {
                   T* here = reinterpret_cast<T*>(room->data()) + part * per_part;
                   const auto last = std::min(blocks, (part + 1) * blocks_per_part);
                   for (auto block = part * blocks_per_part; block < last; ++block) {
                     const auto first = block * width;
                     body(first, std::min(width, lines.count() - first), here);
                   }
                 }
               });
  return {};
}

// Elements [0, n) of `width` lines from x, element j of line v to [j * width + v]; `step` elements apart there.
template <typename T>
void load(const Lines& lines, std::int64_t first, std::int64_t width, std::int64_t n, const T* x, T* to) {
  for (std::int64_t v = 0; v < width; ++v) {
    const T* line = x + lines.start(first + v);
    for (std::int64_t j = 0; j < n; ++j) to[j * width + v] = line[j * lines.inner];
  }
}

template <typename T>
void store(const Lines& lines, std::int64_t first, std::int64_t width, std::int64_t n, const T* from, T* y) {
  for (std::int64_t v = 0; v < width; ++v) {
    T* line = y + lines.start(first + v);
    for (std::int64_t j = 0; j < n; ++j) line[j * lines.inner] = from[j * width + v];
  }
}

template <typename Body>
Status dispatch_real(ir::DType dtype, const Body& body) {
  return dtype == ir::DType::f64 ? body.template operator()<double>() : body.template operator()<float>();
}

Status transform(const ir::Fft& op, Plans& plans, Run& run, std::span<Array> operands, std::span<Array> results) {
  BURN_TRY(const Array re, contiguous(run, operands[0]));
  BURN_TRY(const Array im, contiguous(run, operands[1]));
  BURN_TRY(results[0], run.allocate(re.type()));
  BURN_TRY(results[1], run.allocate(re.type()));
  if (re.num_elements() == 0) return {};
  const Lines lines(re.shape(), op.axis);
  const auto n = lines.size;
  return dispatch_real(re.dtype(), [&]<typename T>() {
    const auto& plan = plans.of<T>(n);
    return for_lines<T>(run, lines, n, plan, [&](std::int64_t first, std::int64_t width, T* room) {
      T *a = room, *b = a + n * width, *rest = b + n * width;
      load(lines, first, width, n, re.as<T>(), a);
      load(lines, first, width, n, im.as<T>(), b);
      plan.run(op.inverse ? b : a, op.inverse ? a : b, width, rest);
      store(lines, first, width, n, a, results[0].as<T>());
      store(lines, first, width, n, b, results[1].as<T>());
    });
  });
}

// e^(-2 pi i k / n) for the first half of the circle.
template <typename T>
struct Turns {
  std::vector<T> cos, sin;

  explicit Turns(std::int64_t n) {
    for (std::int64_t k = 0; k <= n / 2; ++k) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
      cos.push_back(static_cast<T>(std::cos(angle)));
      sin.push_back(static_cast<T>(-std::sin(angle)));
    }
  }
};

// An even number of real ones is half as many complex ones: z[j] = x[2j] + i x[2j + 1]. From their transform Z that of
// x: with Z[h] = Z[0], X[k] = (Z[k] + conj Z[h - k]) / 2 - i e^(-2 pi i k / n) (Z[k] - conj Z[h - k]) / 2.
template <typename T>
void untangle(std::int64_t h, std::int64_t width, const Turns<T>& turns, const T* zr, const T* zi, T* xr, T* xi) {
  for (std::int64_t k = 0; k <= h; ++k) {
    const T c = turns.cos[static_cast<std::size_t>(k)] / 2, w = turns.sin[static_cast<std::size_t>(k)] / 2;
    const auto at = k % h * width, other = (h - k) % h * width;
    for (std::int64_t v = 0; v < width; ++v) {
      const T ar = zr[at + v], ai = zi[at + v], br = zr[other + v], bi = -zi[other + v];
      const T dr = ar - br, di = ai - bi;
      xr[k * width + v] = (ar + br) / 2 + (c * di + w * dr);
      xi[k * width + v] = (ai + bi) / 2 - (c * dr - w * di);
    }
  }
}

// Back: Z[k] = X[k] + conj X[h - k] + i e^(2 pi i k / n) (X[k] - conj X[h - k]).
template <typename T>
void tangle(std::int64_t h, std::int64_t width, const Turns<T>& turns, const T* xr, const T* xi, T* zr, T* zi) {
  for (std::int64_t k = 0; k < h; ++k) {
    const T c = turns.cos[static_cast<std::size_t>(k)], w = -turns.sin[static_cast<std::size_t>(k)];
    const auto at = k * width, other = (h - k) * width;
    const T keep = k == 0 ? 0 : 1;  // the ends are real
    for (std::int64_t v = 0; v < width; ++v) {
      const T ar = xr[at + v], ai = keep * xi[at + v], br = xr[other + v], bi = -keep * xi[other + v];
      const T dr = ar - br, di = ai - bi;
      zr[at + v] = ar + br - (c * di + w * dr);
      zi[at + v] = ai + bi + (c * dr - w * di);
    }
  }
}

Status real_transform(std::int64_t axis, const ir::TensorType& type, Plans& plans, Run& run, std::span<Array> operands,
                      std::span<Array> results) {
  BURN_TRY(const Array x, contiguous(run, operands[0]));
  BURN_TRY(results[0], run.allocate(type));
  BURN_TRY(results[1], run.allocate(type));
  if (x.num_elements() == 0) return {};
  const Lines lines(x.shape(), axis), spectra(type.shape, axis);
  const auto n = lines.size, half = n / 2 + 1;
  return dispatch_real(x.dtype(), [&]<typename T>() -> Status {
    T *re = results[0].as<T>(), *im = results[1].as<T>();
    if (n % 2 != 0) {
      const auto& plan = plans.of<T>(n);
      return for_lines<T>(run, lines, n, plan, [&](std::int64_t first, std::int64_t width, T* room) {
        T *a = room, *b = a + n * width;
        load(lines, first, width, n, x.as<T>(), a);
        std::fill_n(b, n * width, T{0});
        plan.run(a, b, width, b + n * width);
        store(spectra, first, width, half, a, re);
        store(spectra, first, width, half, b, im);
      });
    }
    const auto h = n / 2;
    const auto& plan = plans.of<T>(h);
    const Turns<T> turns(n);
    return for_lines<T>(run, lines, n + 1, plan, [&](std::int64_t first, std::int64_t width, T* room) {
      T *a = room, *b = a + h * width, *rest = room + 2 * (n + 1) * width;
      for (std::int64_t v = 0; v < width; ++v) {
        const T* line = x.as<T>() + lines.start(first + v);
        for (std::int64_t j = 0; j < h; ++j) {
          a[j * width + v] = line[2 * j * lines.inner];
          b[j * width + v] = line[(2 * j + 1) * lines.inner];
        }
      }
      plan.run(a, b, width, rest);
      T *c = b + h * width, *d = c + half * width;
      untangle(h, width, turns, a, b, c, d);
      store(spectra, first, width, half, c, re);
      store(spectra, first, width, half, d, im);
    });
  });
}

Result<Array> inverse_real_transform(std::int64_t axis, const ir::TensorType& type, Plans& plans, Run& run,
                                     std::span<Array> operands) {
  BURN_TRY(const Array re, contiguous(run, operands[0]));
  BURN_TRY(const Array im, contiguous(run, operands[1]));
  BURN_TRY(Array y, run.allocate(type));
  if (y.num_elements() == 0) return y;
  const Lines lines(type.shape, axis), spectra(re.shape(), axis);
  const auto n = lines.size, half = n / 2 + 1;
  BURN_RETURN_IF_ERROR(dispatch_real(type.dtype, [&]<typename T>() -> Status {
    if (n % 2 != 0) {
      const auto& plan = plans.of<T>(n);
      return for_lines<T>(run, lines, n, plan, [&](std::int64_t first, std::int64_t width, T* room) {
        T *a = room, *b = a + n * width;
        load(spectra, first, width, half, re.as<T>(), a);
        load(spectra, first, width, half, im.as<T>(), b);
        std::fill_n(b, width, T{0});
        for (auto k = half; k < n; ++k) {
          for (std::int64_t v = 0; v < width; ++v) {
            a[k * width + v] = a[(n - k) * width + v];
            b[k * width + v] = -b[(n - k) * width + v];
          }
        }
        plan.run(b, a, width, b + n * width);
        store(lines, first, width, n, a, y.as<T>());
      });
    }
    const auto h = n / 2;
    const auto& plan = plans.of<T>(h);
    const Turns<T> turns(n);
    return for_lines<T>(run, lines, n + 1, plan, [&](std::int64_t first, std::int64_t width, T* room) {
      T *a = room, *b = a + half * width, *c = b + half * width, *d = c + h * width;
      T* rest = room + 2 * (n + 1) * width;
      load(spectra, first, width, half, re.as<T>(), a);
      load(spectra, first, width, half, im.as<T>(), b);
      tangle(h, width, turns, a, b, c, d);
      plan.run(d, c, width, rest);
      for (std::int64_t v = 0; v < width; ++v) {
        T* line = y.as<T>() + lines.start(first + v);
        for (std::int64_t j = 0; j < h; ++j) {
          line[2 * j * lines.inner] = c[j * width + v];
          line[(2 * j + 1) * lines.inner] = d[j * width + v];
        }
      }
    });
  }));
  return y;
}

}  // namespace

namespace kernels {

Result<Kernel> prepare(const ir::Fft& op, const Signature&) {
  return Kernel([op, plans = std::make_shared<Plans>()](Run& run, std::span<Array> operands, std::span<Array> results) {
    return transform(op, *plans, run, operands, results);
  });
}

Result<Kernel> prepare(const ir::RealFft& op, const Signature& signature) {
  return Kernel([axis = op.axis, type = signature.result, plans = std::make_shared<Plans>()](
                    Run& run, std::span<Array> operands, std::span<Array> results) {
    return real_transform(axis, type, *plans, run, operands, results);
  });
}

Result<Kernel> prepare(const ir::InverseRealFft& op, const Signature& signature) {
  return Kernel(
      [axis = op.axis, type = signature.result, plans = std::make_shared<Plans>()](
          Run& run, std::span<Array> operands) { return inverse_real_transform(axis, type, *plans, run, operands); });
}

}  // namespace kernels
}  // namespace burn::backends::cpu
