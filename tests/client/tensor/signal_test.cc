// Fourier transforms and windows on the CPU backend, through the tensors' own functions.
#include "client/tensor/signal.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/seeded.h"

namespace burn {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;

const Device& device() {
  static const Device cpu{"cpu"};
  return cpu;
}

template <int D>
auto values(const Tensor<D>& x) {
  return x.to_data().template to_vec_as<float>();
}

template <int D>
void expect_near(const Tensor<D>& a, const Tensor<D>& b, double tolerance) {
  ASSERT_EQ(a.shape(), b.shape());
  ASSERT_EQ(a.dtype(), b.dtype());
  const auto x = values(a), y = values(b);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], tolerance) << i;
}

template <int D>
Tensor<D> random(const std::array<std::int64_t, D>& dims, DType dtype = DType::f32) {
  return Tensor<D>::random(Dims<D>(dims), Distribution::normal(0, 1), {device(), dtype});
}

TEST(Signal, AnImpulseIsSpreadAndAConstantIsOneNumber) {
  const auto [re, im] = signal::rfft(Tensor<1>::from_data({1, 0, 0, 0}, device()), 0);
  EXPECT_THAT(values(re), ElementsAre(1, 1, 1));
  EXPECT_THAT(values(im), ElementsAre(0, 0, 0));
  EXPECT_THAT(values(signal::rfft(Tensor<1>::ones({4}, device()), 0).first), ElementsAre(4, 0, 0));
}

// Exactly real: the phase of a negative number is pi, but would be -pi with an imaginary part of -1e-16.
TEST(Signal, TheEndsOfARealSpectrumAreReal) {
  for (const auto dtype : {DType::f64, DType::f32}) {
    for (const std::int64_t n : {2, 4, 6, 8, 10, 12, 64, 100}) {
      for (const int dim : {1, 2}) {
        const std::array<std::int64_t, 3> dims{3, dim == 1 ? n : 5, dim == 2 ? n : 5};
        const auto im = signal::rfft(random<3>(dims, dtype), dim).second;
        for (const auto end : {std::int64_t{0}, n / 2})
          EXPECT_EQ(im.narrow(dim, end, 1).max_abs().into_scalar<double>(), 0)
              << "bin " << end << " of " << n << ", dim " << dim;
      }
    }
  }
}

// Transforms and inverse transforms, for lengths with all kinds of factors.
TEST(Signal, InversesGiveBackWhatWasTransformed) {
  for (const std::int64_t n : {1, 2, 3, 7, 8, 15, 30, 31, 32, 37, 61, 64, 100, 101, 1000, 1009, 4096}) {
    const auto x = random<3>({2, n, 3});
    const auto [re, im] = signal::rfft(x, 1);
    expect_near(signal::irfft(re, im, 1, n), x, 1e-4);
    const auto y = random<3>({2, n, 3});
    const auto [a, b] = signal::cfft(x, y, -2);
    const auto [c, d] = signal::cfft(b, a, -2);  // swapping real and imaginary parts inverts the transform
    expect_near(d / static_cast<double>(n), x, 1e-4);
    expect_near(c / static_cast<double>(n), y, 1e-4);
  }
}

TEST(Signal, LengthsAreCutOrPadded) {
  const auto x = random<2>({2, 6});
  const auto [cut, cut_im] = signal::rfft(x, 1, 4);
  expect_near(cut, signal::rfft(x.narrow(1, 0, 4), 1).first, 1e-6);
  const auto [padded, padded_im] = signal::rfft(x, 1, 9);
  EXPECT_EQ(padded.shape(), (ir::Shape{2, 5}));
  EXPECT_EQ(signal::irfft(padded, padded_im, 1).shape(), (ir::Shape{2, 8}));
  EXPECT_EQ(signal::irfft(padded, padded_im, 1, 20).shape(), (ir::Shape{2, 20}));
}

TEST(Signal, HalfPrecisionIsComputedInF32) {
  const auto x = random<2>({3, 64}, DType::f16);
  const auto [re, im] = signal::rfft(x, 1);
  EXPECT_EQ(re.dtype(), DType::f16);
  expect_near(re, signal::rfft(x.cast(DType::f32), 1).first.cast(DType::f16), 1e-6);
  expect_near(signal::irfft(re, im, 1), x, 1e-2);
}

TEST(Signal, Windows) {
  EXPECT_THAT(values(signal::hann_window(4, true, device())),
              ElementsAre(0, FloatNear(0.5, 1e-6), 1, FloatNear(0.5, 1e-6)));
  EXPECT_THAT(values(signal::hann_window(3, false, device())), ElementsAre(0, 1, FloatNear(0, 1e-6)));
  EXPECT_THAT(values(signal::hamming_window(1, false, device())), ElementsAre(1));
  EXPECT_THAT(values(signal::blackman_window(1, true, device())), ElementsAre(1));
  EXPECT_TRUE(values(signal::blackman_window(0, true, device())).empty());
  EXPECT_NEAR(values(signal::hamming_window(2, true, device()))[0], 4.0 / 46, 1e-6);
  EXPECT_NEAR(values(signal::blackman_window(3, false, device()))[1], 1, 1e-6);
  EXPECT_EQ(signal::hann_window(4, true, {device(), DType::f64}).dtype(), DType::f64);
}

TEST(Signal, ShortTimeTransformsGoBack) {
  const auto x = random<2>({2, 64});
  const auto window = signal::hann_window(16, true, device());
  for (const bool onesided : {true, false}) {
    const signal::StftOptions options{.n_fft = 16, .hop_length = 4, .onesided = onesided};
    const auto y = signal::stft(x, window, options);
    EXPECT_EQ(y.shape(), (ir::Shape{2, 17, onesided ? 9 : 16, 2}));
    expect_near(signal::istft(y, window, std::nullopt, options), x, 1e-5);
    EXPECT_EQ(signal::istft(y, window, 70, options).shape(), (ir::Shape{2, 70}));
  }
}

// The expected numbers are computed by hand: sums of cosines and sines of the first three bins, where overlapping
// frames are added and divided by their number.
TEST(Signal, BackFromAWholeSpectrumOnlyItsFirstHalfCounts) {
  const signal::StftOptions options{.n_fft = 4, .hop_length = 2, .center = false, .onesided = false};
  const Device tracked = device().autodiff();
  const std::vector<float> parts{1, 0.5, 2, -1, 3, 0.25, 4, 2, 0, 1, 1, 2, -1, 3, 5, -4};  // no conjugate symmetry
  const auto x = Tensor<4>::from_data(TensorData(parts, {1, 2, 4, 2}), tracked).require_grad();
  const auto y = signal::istft(x, std::nullopt, std::nullopt, options);
  expect_near(y, Tensor<2>::from_data({{2, 0, 0.125, -0.875, -0.75, 1.25}}, tracked), 1e-6);
  const auto weights = Tensor<2>::from_data({{1, 2, 3, 4, 5, 6}}, tracked);
  const auto gradient = x.grad((y * weights).sum().backward());
  const std::vector<float> expected{1.625, 0, -0.25, 0, -0.375, 0, 0, 0, 3.625, 0, -1.75, 2, -0.375, 0, 0, 0};
  if (!gradient) FAIL() << "no gradient";
  expect_near(*gradient, Tensor<4>::from_data(TensorData(expected, {1, 2, 4, 2}), device()), 1e-6);
}

TEST(Signal, BackFromAWholeSpectrumIsBackFromItsFirstHalf) {
  for (const std::int64_t n : {8, 9}) {
    const auto whole = random<4>({2, 3, n, 2});
    const signal::StftOptions of_whole{.n_fft = n, .hop_length = 2, .onesided = false},
        of_half{.n_fft = n, .hop_length = 2, .onesided = true};
    const auto window = signal::hann_window(n, true, device());
    expect_near(signal::istft(whole, window, std::nullopt, of_whole),
                signal::istft(whole.narrow(2, 0, n / 2 + 1), window, std::nullopt, of_half), 1e-6);
  }
}

std::string message_of(const auto& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(SignalErrors, NameTheFunctionAndTheNumbers) {
  const auto x = Tensor<2>::ones({2, 8}, device());
  EXPECT_THAT(message_of([&] { signal::rfft(x, 2); }), HasSubstr("rfft: "));
  EXPECT_THAT(message_of([&] { signal::rfft(x, 1, 0); }), HasSubstr("rfft: length 0 of f32[2, 8] (at "));
  EXPECT_THAT(message_of([&] { signal::irfft(x, x, 1, -4); }), HasSubstr("irfft: length -4"));
  EXPECT_THAT(message_of([&] {
                signal::cfft(x, Tensor<2>::ones({2, 7}, device()), 1);
              }),
              HasSubstr("cfft: real parts f32[2, 8] and imaginary parts f32[2, 7] differ"));
  EXPECT_THAT(message_of([&] { signal::stft(x, std::nullopt, {.n_fft = 32, .hop_length = 1}); }),
              HasSubstr("stft: a signal of 8 has nothing to mirror for 16"));
  EXPECT_THAT(message_of([&] { signal::stft(x, std::nullopt, {.n_fft = 9, .hop_length = 1, .center = false}); }),
              HasSubstr("stft: 8 samples are fewer than n_fft, 9"));
  EXPECT_THAT(message_of([&] { signal::stft(x, std::nullopt, {.n_fft = 4, .hop_length = 0}); }),
              HasSubstr("hop_length 0"));
  EXPECT_THAT(message_of([&] { signal::stft(x, Tensor<1>::ones({3}, device()), {.n_fft = 4, .hop_length = 1}); }),
              HasSubstr("stft: window f32[3] does not have win_length 4"));
  EXPECT_THAT(message_of([&] { signal::hann_window(-1, true, device()); }), HasSubstr("hann_window: size -1"));
}

}  // namespace
}  // namespace burn
