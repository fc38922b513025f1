// Fft, RealFft, InverseRealFft: lines along the axis, several side by side, are transformed by a plan of their length.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/kernels/fft_lines.h"
#include "backends/interrupt.h"

namespace burn::backends::cpu {
namespace {

// e^(-2 pi i k / n) for the first half of the circle, n even. Computed from the nearer end, and the cosine from the
// quarter: the sine of the far end is exactly 0, as a real spectrum's last number is real.
template <typename T>
struct Twiddles {
  std::vector<T> cos, sin;

  static std::uint64_t kept_bytes(std::int64_t n) { return static_cast<std::uint64_t>(n / 2 + 1) * 2 * sizeof(T); }
  static std::uint64_t needed_bytes(std::int64_t n) { return kept_bytes(n); }

  explicit Twiddles(std::int64_t n) {
    cos.reserve(static_cast<std::size_t>(n / 2 + 1));
    sin.reserve(static_cast<std::size_t>(n / 2 + 1));
    const double turn = 2 * std::numbers::pi / static_cast<double>(n);
    InterruptMeter meter;
    for (std::int64_t k = 0; k <= n / 2; ++k) {
      meter.add(32);
      cos.push_back(static_cast<T>(std::sin(turn * static_cast<double>(n - 4 * k) / 4)));
      sin.push_back(static_cast<T>(-std::sin(turn * static_cast<double>(std::min(k, n / 2 - k)))));
    }
  }
};

template <typename Body>
Status dispatch_real(ir::DType dtype, const Body& body) {
  return dtype == ir::DType::f64 ? body.template operator()<double>() : body.template operator()<float>();
}

Status transform(const ir::Fft& op, Run& run, std::span<Array> operands, std::span<Array> results) {
  BURN_TRY(const Array re, contiguous(run, operands[0]));
  BURN_TRY(const Array im, contiguous(run, operands[1]));
  BURN_TRY(results[0], run.allocate(re.type()));
  BURN_TRY(results[1], run.allocate(re.type()));
  if (re.num_elements() == 0) return {};
  const Lines lines(re.shape(), op.axis);
  const auto n = lines.size;
  return dispatch_real(re.dtype(), [&]<typename T>() -> Status {
    BURN_TRY(const auto made, plan_of<T>(run, n));
    const auto& plan = *made;
    return for_lines<T>(run, lines, plan, 2 * padded_stride(n), [&](std::int64_t first, std::int64_t width, T* room) {
      const SplitComplex<T> x{room, room + padded_stride(n * width)};
      load(lines, first, width, n, re.as<T>(), x.re);
      load(lines, first, width, n, im.as<T>(), x.im);
      T* rest = x.im + padded_stride(n * width);
      const auto y = op.inverse ? plan.run(x.swapped(), width, rest).swapped() : plan.run(x, width, rest);
      store(lines, first, width, n, y.re, results[0].as<T>());
      store(lines, first, width, n, y.im, results[1].as<T>());
    });
  });
}

// FftLoops::unpack_real for several lines side by side.
template <typename T>
void unpack_real(std::int64_t h, std::int64_t width, const Twiddles<T>& twiddles, SplitComplex<T> z,
                 SplitComplex<T> x) {
  if (width == 1)
    return fft_loops<T>().unpack_real(h, twiddles.cos.data(), twiddles.sin.data(), z.re, z.im, x.re, x.im);
  for (std::int64_t k = 0; k <= h; ++k) {
    const T c = twiddles.cos[static_cast<std::size_t>(k)] / 2, w = twiddles.sin[static_cast<std::size_t>(k)] / 2;
    const auto at = k % h * width, other = (h - k) % h * width;
    for (std::int64_t v = 0; v < width; ++v) {
      const T ar = z.re[at + v], ai = z.im[at + v], br = z.re[other + v], bi = -z.im[other + v];
      const T dr = ar - br, di = ai - bi;
      x.re[k * width + v] = (ar + br) / 2 + (c * di + w * dr);
      x.im[k * width + v] = (ai + bi) / 2 - (c * dr - w * di);
    }
  }
}

template <typename T>
void pack_real(std::int64_t h, std::int64_t width, const Twiddles<T>& twiddles, SplitComplex<T> x, SplitComplex<T> z) {
  if (width == 1) return fft_loops<T>().pack_real(h, twiddles.cos.data(), twiddles.sin.data(), x.re, x.im, z.re, z.im);
  for (std::int64_t k = 0; k < h; ++k) {
    const T c = twiddles.cos[static_cast<std::size_t>(k)], w = -twiddles.sin[static_cast<std::size_t>(k)];
    const auto at = k * width, other = (h - k) * width;
    const T keep = k == 0 ? 0 : 1;  // the ends are real
    for (std::int64_t v = 0; v < width; ++v) {
      const T ar = x.re[at + v], ai = keep * x.im[at + v], br = x.re[other + v], bi = -keep * x.im[other + v];
      const T dr = ar - br, di = ai - bi;
      z.re[at + v] = ar + br - (c * di + w * dr);
      z.im[at + v] = ai + bi + (c * dr - w * di);
    }
  }
}

Status real_transform(std::int64_t axis, const ir::TensorType& type, Run& run, std::span<Array> operands,
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
      BURN_TRY(const auto made, plan_of<T>(run, n));
      const auto& plan = *made;
      return for_lines<T>(run, lines, plan, 2 * padded_stride(n), [&](std::int64_t first, std::int64_t width, T* room) {
        const SplitComplex<T> z{room, room + padded_stride(n * width)};
        load(lines, first, width, n, x.as<T>(), z.re);
        std::fill_n(z.im, n * width, T{0});
        const auto y = plan.run(z, width, z.im + padded_stride(n * width));
        store(spectra, first, width, half, y.re, re);
        store(spectra, first, width, half, y.im, im);
      });
    }
    const auto h = n / 2;
    BURN_TRY(const auto made, plan_of<T>(run, h));
    BURN_TRY(const auto made_twiddles, run.pool.tables().get<Twiddles<T>>(n));
    const auto& plan = *made;
    const auto& twiddles = *made_twiddles;
    return for_lines<T>(run, lines, plan, 4 * padded_stride(half),
                        [&](std::int64_t first, std::int64_t width, T* room) {
                          const auto step = padded_stride(half * width);
                          const SplitComplex<T> z{room, room + step}, y{room + 2 * step, room + 3 * step};
                          T* rest = room + 4 * step;
                          if (lines.inner == 1 && width == 1) {
                            fft_loops<T>().split(h, x.as<T>() + lines.start(first), z.re, z.im);
                          } else {
                            load(lines, first, width, h, x.as<T>(), z.re, 0, 2);
                            load(lines, first, width, h, x.as<T>(), z.im, 1, 2);
                          }
                          unpack_real(h, width, twiddles, plan.run(z, width, rest), y);
                          store(spectra, first, width, half, y.re, re);
                          store(spectra, first, width, half, y.im, im);
                        });
  });
}

Result<Array> inverse_real_transform(std::int64_t axis, const ir::TensorType& type, Run& run,
                                     std::span<Array> operands) {
  BURN_TRY(const Array re, contiguous(run, operands[0]));
  BURN_TRY(const Array im, contiguous(run, operands[1]));
  BURN_TRY(Array y, run.allocate(type));
  if (y.num_elements() == 0) return y;
  const Lines lines(type.shape, axis), spectra(re.shape(), axis);
  const auto n = lines.size, half = n / 2 + 1;
  BURN_RETURN_IF_ERROR(dispatch_real(type.dtype, [&]<typename T>() -> Status {
    if (n % 2 != 0) {
      BURN_TRY(const auto made, plan_of<T>(run, n));
      const auto& plan = *made;
      return for_lines<T>(run, lines, plan, 2 * padded_stride(n), [&](std::int64_t first, std::int64_t width, T* room) {
        const SplitComplex<T> z{room, room + padded_stride(n * width)};
        load(spectra, first, width, half, re.as<T>(), z.re);
        load(spectra, first, width, half, im.as<T>(), z.im);
        std::fill_n(z.im, width, T{0});
        for (auto k = half; k < n; ++k) {
          for (std::int64_t v = 0; v < width; ++v) {
            z.re[k * width + v] = z.re[(n - k) * width + v];
            z.im[k * width + v] = -z.im[(n - k) * width + v];
          }
        }
        store(lines, first, width, n, plan.run(z.swapped(), width, z.im + padded_stride(n * width)).swapped().re,
              y.as<T>());
      });
    }
    const auto h = n / 2;
    BURN_TRY(const auto made, plan_of<T>(run, h));
    BURN_TRY(const auto made_twiddles, run.pool.tables().get<Twiddles<T>>(n));
    const auto& plan = *made;
    const auto& twiddles = *made_twiddles;
    return for_lines<T>(run, lines, plan, 4 * padded_stride(half),
                        [&](std::int64_t first, std::int64_t width, T* room) {
                          const auto step = padded_stride(half * width);
                          const SplitComplex<T> x{room, room + step}, z{room + 2 * step, room + 3 * step};
                          T* rest = room + 4 * step;
                          load(spectra, first, width, half, re.as<T>(), x.re);
                          load(spectra, first, width, half, im.as<T>(), x.im);
                          pack_real(h, width, twiddles, x, z);
                          const auto line = plan.run(z.swapped(), width, rest).swapped();
                          if (lines.inner == 1 && width == 1)
                            return fft_loops<T>().join(h, line.re, line.im, y.as<T>() + lines.start(first));
                          store(lines, first, width, h, line.re, y.as<T>(), 0, 2);
                          store(lines, first, width, h, line.im, y.as<T>(), 1, 2);
                        });
  }));
  return y;
}

}  // namespace

namespace kernels {

Result<Kernel> prepare(const ir::Fft& op, const Signature&) {
  return Kernel([op](Run& run, std::span<Array> operands, std::span<Array> results) {
    return transform(op, run, operands, results);
  });
}

Result<Kernel> prepare(const ir::RealFft& op, const Signature& signature) {
  return Kernel(
      [axis = op.axis, type = signature.result](Run& run, std::span<Array> operands, std::span<Array> results) {
        return real_transform(axis, type, run, operands, results);
      });
}

Result<Kernel> prepare(const ir::InverseRealFft& op, const Signature& signature) {
  return Kernel([axis = op.axis, type = signature.result](Run& run, std::span<Array> operands) {
    return inverse_real_transform(axis, type, run, operands);
  });
}

}  // namespace kernels
}  // namespace burn::backends::cpu
