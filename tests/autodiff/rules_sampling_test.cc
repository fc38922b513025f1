// Gradients of interpolation, sampling, windows and alignments against differences, first and second order.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "client/ops/sampling.h"
#include "client/ops/sequence_loss.h"
#include "tests/autodiff/finite_differences.h"

namespace burn {
namespace {

using client::Value;
using Fn = ir::PointwiseFn;
using Values = std::vector<Value>;

const ir::CallSite kSite{};

Value integers(const Value& like, std::vector<std::int64_t> numbers, const ir::Shape& shape) {
  return client::from_data(TensorData(std::move(numbers), shape), {Device{like.device(), like.is_autodiff()}},
                           DType::i64);
}

// The gradient of sum(f(x)^2) with respect to the first operand, as a function that can itself be differentiated.
test::Function gradient_of(test::Function f) {
  return [f = std::move(f)](const Values& x) {
    // Differences are taken with untracked inputs: track them here, to compute the gradient.
    Values on_tape;
    for (const auto& v : x) {
      const Value ad = v.is_autodiff() ? v : v.from_inner();
      on_tape.push_back(ad.is_tracked() ? ad : client::require_grad(ad));
    }
    const Value y = f(on_tape);
    const Value total = client::reduce_all(ir::ReduceFn::sum, client::pointwise(Fn::mul, y, y, kSite), kSite);
    const auto gradients = client::backward(total, {.create_graph = true}, kSite);
    const Value g = *gradients.get(on_tape[0]);
    return x[0].is_autodiff() ? g : g.inner();
  };
}

TEST(SamplingRules, Interpolation) {
  for (const auto mode : {InterpolateMode::nearest, InterpolateMode::nearest_exact, InterpolateMode::bilinear,
                          InterpolateMode::bicubic, InterpolateMode::lanczos3}) {
    for (const bool align_corners : {false, true}) {
      for (const auto& size : {ir::Dims{7, 4}, ir::Dims{2, 9}, ir::Dims{1, 1}}) {
        test::expect_both_orders(
            [&](const Values& x) {
              return client::interpolate(x[0], size, {mode, align_corners}, kSite);
            },
            {test::spread({1, 2, 4, 5}, -1, 1)});
        test::expect_both_orders(
            [&](const Values& x) {
              return client::apply(ir::InterpolateGrad{{4, 5}, mode, align_corners}, x[0], kSite);
            },
            {test::spread({1, 2, size[0], size[1]}, -1, 1)});
      }
    }
  }
}

TEST(SamplingRules, AdaptiveMaxPools) {
  test::expect_both_orders(
      [](const Values& x) {
        return client::adaptive_max_pool(x[0], {2, 3}, kSite).values;
      },
      {test::spread({1, 2, 5, 7}, -1, 1)});
}

TEST(SamplingRules, GridSamplingInImageAndGrid) {
  for (const auto padding :
       {GridSamplePaddingMode::zeros, GridSamplePaddingMode::border, GridSamplePaddingMode::reflection}) {
    for (const bool align_corners : {false, true}) {
      test::expect_both_orders(
          [&](const Values& x) {
            return client::grid_sample_2d(x[0], x[1], {InterpolateMode::bilinear, padding, align_corners}, kSite);
          },
          {test::spread({2, 2, 3, 4}, -1, 1), test::spread({2, 3, 3, 2}, -1.3, 1.3, 1)});
      test::expect_both_orders(
          [&](const Values& x) {
            const Value grid =
                test::value_of(test::spread({1, 3, 3, 2}, -1.3, 1.3, 1), Device{x[0].device(), x[0].is_autodiff()});
            return client::grid_sample_2d(x[0], grid, {InterpolateMode::nearest, padding, align_corners}, kSite);
          },
          {test::spread({1, 2, 3, 4}, -1, 1)});
    }
  }
}

TEST(SamplingRules, AffineGrids) {
  test::expect_both_orders(
      [](const Values& x) {
        return client::affine_grid_2d(x[0], {2, 1, 3, 1}, kSite);
      },
      {test::spread({2, 2, 3}, -1, 1)});
}

TEST(SamplingRules, WindowsAsColumnsAndBack) {
  const UnfoldOptions options{.stride = {2, 1}, .padding = {1, 0}, .dilation = {1, 2}};
  test::expect_both_orders(
      [&](const Values& x) {
        return client::unfold4d(x[0], {2, 2}, options, kSite);
      },
      {test::spread({2, 2, 4, 5}, -1, 1)});
  test::expect_both_orders(
      [&](const Values& x) {
        return client::fold4d(x[0], {4, 5}, {2, 2}, options, kSite);
      },
      {test::spread({2, 8, 9}, -1, 1)});
}

TEST(SamplingRules, DeformableConvolution) {
  const DeformConvOptions options{.stride = {1, 2}, .padding = {1, 1}, .weight_groups = 2, .offset_groups = 2};
  test::expect_both_orders(
      [&](const Values& x) { return client::deform_conv2d(x[0], x[1], x[2], &x[3], &x[4], options, kSite); },
      {test::spread({1, 4, 4, 5}, -1, 1), test::spread({1, 16, 5, 3}, -0.8, 0.8, 1),
       test::spread({2, 2, 2, 2}, -1, 1, 2), test::spread({1, 8, 5, 3}, 0, 1, 3), test::spread({2}, -1, 1, 4)});
}

TEST(LatticeRules, RecurrencesInBothDirectionsAndSemirings) {
  for (const auto semiring : {ir::Semiring::linear, ir::Semiring::log}) {
    for (const bool adjoint : {false, true}) {
      for (const std::int64_t band : {1, 2, 3, 5}) {
        const test::Function scan = [&](const Values& x) {
          return client::apply(ir::BandedScan{semiring, adjoint}, x[0], x[1], kSite);
        };
        const auto b = test::spread({2, 4, 3}, -1, 1), w = test::spread({2, 4, band, 3}, -1, 1, 1);
        test::expect_both_orders(scan, {b, w});
        if (band == 2) test::expect_gradients(gradient_of(scan), {b, w}, 1e-5);
      }
    }
  }
}

// Places that no path reaches have a gradient of 0, the others the right one; none is NaN.
TEST(LatticeRules, UnreachablePlacesHaveAGradientOfZero) {
  const Device ad = Device{"cpu"}.autodiff();
  constexpr double kNothing = -std::numeric_limits<double>::infinity();
  const Value b = client::require_grad(test::value_of(
      TensorData(std::vector<double>{0, kNothing, kNothing, kNothing, kNothing, kNothing}, {1, 2, 3}), ad));
  const Value w = client::require_grad(
      test::value_of(TensorData(std::vector<double>{0, 0, 0, kNothing, 0.5, 0.25}, {1, 2, 1, 3}), ad));
  const Value y = client::apply(ir::BandedScan{ir::Semiring::log, false}, b, w, kSite);
  const auto g = client::backward(client::reduce_all(ir::ReduceFn::max, y, kSite), {}, kSite);
  for (const Value& x : {b, w}) {
    const auto numbers = client::to_data(*g.get(x)).to_vec<double>();
    for (const double number : numbers) EXPECT_TRUE(std::isfinite(number));
  }
}

Value ctc(const Value& logits, std::vector<std::int64_t> steps, std::vector<std::int64_t> lengths) {
  const auto n = logits.dim(1);
  const Value targets = integers(logits, {1, 2, 2, 3, 1, 0}, {2, 3});
  return client::ctc_loss(client::log_softmax(logits, 2, kSite), targets, integers(logits, std::move(steps), {n}),
                          integers(logits, std::move(lengths), {n}), 0, kSite);
}

TEST(AlignmentRules, ConnectionistTemporalClassification) {
  const auto logits = test::spread({6, 2, 4}, -1, 1);
  for (const auto& lengths : {std::vector<std::int64_t>{3, 2}, std::vector<std::int64_t>{0, 1}}) {
    const test::Function loss = [&](const Values& x) { return ctc(x[0], {6, 4}, lengths); };
    test::expect_both_orders(loss, {logits});
    test::expect_gradients(gradient_of(loss), {logits}, 1e-5);
  }
}

TEST(AlignmentRules, NoAlignmentIsInfiniteAndFlat) {
  const Device ad = Device{"cpu"}.autodiff();
  const Value x = client::require_grad(test::value_of(test::spread({6, 2, 4}, -1, 1), ad));
  // [1, 2, 2] needs four steps; an empty target in no steps has probability 1.
  const Value loss = ctc(x, {3, 0}, {3, 0});
  const auto losses = client::to_data(loss).to_vec<double>();
  EXPECT_EQ(losses[0], std::numeric_limits<double>::infinity());
  EXPECT_EQ(losses[1], 0);
  const auto g = client::backward(client::reduce_all(ir::ReduceFn::sum, loss, kSite), {}, kSite);
  for (const double number : client::to_data(*g.get(x)).to_vec<double>()) EXPECT_EQ(number, 0);
}

TEST(AlignmentRules, Transducers) {
  const auto logits = test::spread({2, 4, 3, 3}, -1, 1);
  const test::Function loss = [](const Values& x) {
    return client::rnnt_loss(client::log_softmax(x[0], 3, kSite), integers(x[0], {1, 2, 2, 7}, {2, 2}),
                             integers(x[0], {4, 2}, {2}), integers(x[0], {2, 1}, {2}), 0, kSite);
  };
  test::expect_both_orders(loss, {logits});
  test::expect_gradients(gradient_of(loss), {logits}, 1e-5);
}

}  // namespace
}  // namespace burn
