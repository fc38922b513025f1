// Transforms of every kind of length, alone and side by side, against the sum that defines them, in double.
#include "backends/cpu/kernels/fft_plan.h"

#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/simd/fft_loops.h"

namespace burn::backends::cpu {
namespace {

struct Spectrum {
  std::vector<double> re, im;
};

double number(std::int64_t i) { return std::sin(1.0 + 0.7 * static_cast<double>(i * i % 1009)); }

// The Fourier transform, by its definition, of x[j] = number(j + v) + i number(3 j + 5 + v), j < n.
Spectrum defined(std::int64_t n, std::int64_t v) {
  Spectrum y;
  for (std::int64_t k = 0; k < n; ++k) {
    double re = 0, im = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      const double angle = -2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n);
      const double a = number(j + v), b = number(3 * j + 5 + v), c = std::cos(angle), s = std::sin(angle);
      re += a * c - b * s;
      im += a * s + b * c;
    }
    y.re.push_back(re);
    y.im.push_back(im);
  }
  return y;
}

template <typename T>
void expect_defined(std::int64_t n, std::int64_t width, double bound) {
  SCOPED_TRACE(testing::Message() << "n " << n << ", " << width << " side by side");
  const FftPlan<T> plan(n);
  std::vector<T> re(static_cast<std::size_t>(n * width)), im(re.size());
  std::vector<T> room(static_cast<std::size_t>(plan.room(width)));
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t v = 0; v < width; ++v) {
      re[static_cast<std::size_t>(j * width + v)] = static_cast<T>(number(j + v));
      im[static_cast<std::size_t>(j * width + v)] = static_cast<T>(number(3 * j + 5 + v));
    }
  }
  const auto y = plan.run({re.data(), im.data()}, width, room.data());
  for (std::int64_t v = 0; v < width; ++v) {
    const auto expected = defined(n, v);
    double difference = 0, size = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      const auto at = static_cast<std::size_t>(k);
      const double a = y.re[k * width + v] - expected.re[at], b = y.im[k * width + v] - expected.im[at];
      difference = std::max(difference, std::hypot(a, b));
      size += expected.re[at] * expected.re[at] + expected.im[at] * expected.im[at];
    }
    ASSERT_LE(difference, bound * std::sqrt(size / static_cast<double>(n))) << "signal " << v;
  }
}

// By one pass of each kind, by several, as a matrix with vectors that are full and with some left over, as a
// convolution that is one.
constexpr std::int64_t kLengths[] = {1,  2,   3,   4,   5,   7,   8,    16,   30,   31,   64,
                                     97, 243, 256, 289, 360, 512, 1000, 1021, 1024, 1155, 1536};

TEST(FftPlan, OneSignalOfAnyLength) {
  for (const auto n : kLengths) {
    expect_defined<float>(n, 1, 4e-6);
    expect_defined<double>(n, 1, 1e-13);
  }
}

TEST(FftPlan, SignalsSideBySide) {
  for (const auto n : kLengths) {
    if (n > 400) continue;
    for (const std::int64_t width : {2, 7, 16, 21}) {
      expect_defined<float>(n, width, 4e-6);
      expect_defined<double>(n, width, 1e-13);
    }
  }
}

TEST(FftPlan, ALongOneGoesAlone) {
  EXPECT_TRUE(FftPlan<float>(2048).prefers_single());
  EXPECT_TRUE(FftPlan<float>(1021).prefers_single()) << "its convolution does";
  EXPECT_FALSE(FftPlan<float>(64).prefers_single());
}

TEST(FftLoops, TransposesAnySizes) {
  for (std::int64_t rows = 1; rows <= 40; rows += 3) {
    for (std::int64_t columns = 1; columns <= 21; ++columns) {
      const auto x_stride = columns + 2, y_stride = rows + 1;
      std::vector<float> x(static_cast<std::size_t>(rows * x_stride)),
          y(static_cast<std::size_t>(columns * y_stride), -1);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
      fft_loops<float>().transpose(rows, columns, x.data(), x_stride, y.data(), y_stride);
      for (std::int64_t c = 0; c < columns; ++c) {
        for (std::int64_t r = 0; r < y_stride; ++r) {
          const float expected = r < rows ? static_cast<float>(r * x_stride + c) : -1;
          ASSERT_EQ(y[static_cast<std::size_t>(c * y_stride + r)], expected) << rows << " x " << columns;
        }
      }
    }
  }
}

// There and back through the loops for real lines.
template <typename T>
void expect_back(std::int64_t h, T bound) {
  std::vector<T> cos, sin;
  for (std::int64_t k = 0; k <= h; ++k) {
    const double angle = std::numbers::pi * static_cast<double>(k) / static_cast<double>(h);
    cos.push_back(static_cast<T>(std::cos(angle)));
    sin.push_back(static_cast<T>(-std::sin(angle)));
  }
  const auto size = static_cast<std::size_t>(h);
  std::vector<T> x(2 * size), a(size), b(size), c(size), d(size), re(size + 1), im(size + 1), y(2 * size);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(number(static_cast<std::int64_t>(i)));
  const auto& loops = fft_loops<T>();
  loops.split(h, x.data(), a.data(), b.data());
  loops.unpack_real(h, cos.data(), sin.data(), a.data(), b.data(), re.data(), im.data());
  loops.pack_real(h, cos.data(), sin.data(), re.data(), im.data(), c.data(), d.data());
  loops.join(h, c.data(), d.data(), y.data());
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(y[i], 2 * x[i], bound) << "of " << h << ", element " << i;
}

TEST(FftLoops, RealLinesThereAndBack) {
  for (std::int64_t h = 1; h < 100; ++h) {
    expect_back<float>(h, 2e-6f);
    expect_back<double>(h, 1e-14);
  }
}

}  // namespace
}  // namespace burn::backends::cpu
