// Recurrences row by row: a row depends on the one before, so only the sequences of the batch run in parallel.
#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/run.h"
#include "backends/interrupt.h"

namespace burn::backends::cpu {
namespace {

struct LinearSum {
  template <typename T>
  static T of(T total, T weight, T y) {
    return total + weight * y;
  }
};

// log(e^total + e^(weight + y)).
struct LogSum {
  template <typename T>
  static T of(T total, T weight, T y) {
    const T term = weight + y;
    if (term == -std::numeric_limits<T>::infinity()) return total;
    if (total == -std::numeric_limits<T>::infinity()) return term;
    const T high = total < term ? term : total, low = total < term ? total : term;
    if (high == std::numeric_limits<T>::infinity()) return high;
    return high + std::log1p(std::exp(low - high));
  }
};

constexpr std::int64_t kUnits = 8;  // of an InterruptMeter, for a term

struct Sizes {
  std::int64_t rows, band, width;
};

// Row t from row t - 1 with the weights of row t: i gathers from i - j.
template <typename Sum, typename T>
void forwards(const Sizes& size, const T* b, const T* w, T* y) {
  const auto [rows, band, width] = size;
  InterruptMeter meter;
  for (std::int64_t t = 0; t < rows; ++t, b += width, y += width, w += band * width) {
    meter.add(kUnits * (band + 1) * width);
    std::copy_n(b, width, y);
    if (t == 0) continue;
    const T* before = y - width;
    for (std::int64_t j = 0; j < std::min(band, width); ++j) {
      const T* weights = w + j * width;
      for (auto i = j; i < width; ++i) y[i] = Sum::of(y[i], weights[i], before[i - j]);
    }
  }
}

// Row t from row t + 1 with the weights of row t + 1: i gathers from i + j.
template <typename Sum, typename T>
void backwards(const Sizes& size, const T* b, const T* w, T* y) {
  const auto [rows, band, width] = size;
  InterruptMeter meter;
  for (auto t = rows - 1; t >= 0; --t) {
    meter.add(kUnits * (band + 1) * width);
    T* row = y + t * width;
    std::copy_n(b + t * width, width, row);
    if (t == rows - 1) continue;
    const T* after = row + width;
    for (std::int64_t j = 0; j < std::min(band, width); ++j) {
      const T* weights = w + ((t + 1) * band + j) * width;
      for (std::int64_t i = 0; i + j < width; ++i) row[i] = Sum::of(row[i], weights[i + j], after[i + j]);
    }
  }
}

template <typename Sum, typename T>
void scan(bool adjoint, std::int64_t sequences, const Sizes& size, const T* b, const T* w, T* y) {
  const auto elements = size.rows * size.width;
  parallel_for(sequences, kGrain / (8 * elements * (size.band + 1) + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto n = begin; n < end; ++n) {
      const auto at = n * elements;
      adjoint ? backwards<Sum>(size, b + at, w + at * size.band, y + at)
              : forwards<Sum>(size, b + at, w + at * size.band, y + at);
    }
  });
}

}  // namespace

namespace kernels {

Result<Kernel> prepare(const ir::BandedScan& op, const Signature& signature) {
  return Kernel([op, type = signature.result](Run& run, std::span<Array> operands) -> Result<Array> {
    BURN_TRY(const Array b, contiguous(run, operands[0]));
    BURN_TRY(const Array w, contiguous(run, operands[1]));
    BURN_TRY(Array y, run.allocate(type));
    if (y.num_elements() == 0) return y;
    const Sizes size{type.shape[1], w.shape()[2], type.shape[2]};
    const auto compute = [&]<typename T>() {
      const auto run_as = op.semiring == ir::Semiring::log ? scan<LogSum, T> : scan<LinearSum, T>;
      run_as(op.adjoint, type.shape[0], size, b.as<T>(), w.as<T>(), y.as<T>());
    };
    type.dtype == ir::DType::f64 ? compute.template operator()<double>() : compute.template operator()<float>();
    return y;
  });
}

}  // namespace kernels
}  // namespace burn::backends::cpu
