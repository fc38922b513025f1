// Interpolation, grids, windows as columns, deformable convolution: functions and the layers over them.
#include "nn/functional.h"
#include "tests/nn/nn_test.h"

namespace burn {
namespace {

using test::cpu;
using test::error_of;
using test::expect_near;
using test::values;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor<4> image() { return Tensor<4>::from_data({{{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}}}, cpu()); }
Tensor<3> line() { return Tensor<3>::from_data({{{0, 10, 20, 30}}}, cpu()); }

TEST(Interpolate, LinesInEveryMode) {
  const auto to = [&](InterpolateMode mode, std::int64_t size, bool corners) {
    return module::interpolate1d(line(), size, {mode, corners});
  };
  expect_near(to(InterpolateMode::nearest, 6, false), {0, 0, 10, 20, 20, 30});
  expect_near(to(InterpolateMode::nearest_exact, 6, false), {0, 10, 10, 20, 30, 30});
  expect_near(to(InterpolateMode::bilinear, 8, false), {0, 2.5, 7.5, 12.5, 17.5, 22.5, 27.5, 30});
  expect_near(to(InterpolateMode::bilinear, 7, true), {0, 5, 10, 15, 20, 25, 30});
  expect_near(to(InterpolateMode::bilinear, 2, false), {5, 25});
  expect_near(to(InterpolateMode::bicubic, 7, true), {0, 4.0625, 10, 15, 20, 25.9375, 30});
  expect_near(to(InterpolateMode::lanczos3, 4, true), {0, 10, 20, 30});
  expect_near(to(InterpolateMode::bilinear, 1, true), {0});
}

TEST(Interpolate, AnInfinitySpoilsItsNeighboursOnly) {
  const auto x = Tensor<3>::from_data({{{0, 10, 20, 30, kInf}}}, cpu());
  const auto y = values(module::interpolate1d(x, 10, {InterpolateMode::bilinear, false}));
  EXPECT_THAT(std::vector(y.begin(), y.begin() + 7), ElementsAre(0, 2.5, 7.5, 12.5, 17.5, 22.5, 27.5));
  EXPECT_EQ(y.back(), kInf);
}

TEST(Interpolate, OfHalvesIsComputedInF32) {
  const auto x = image().cast(DType::f16);
  const auto y = module::interpolate(x, {5, 5}, {InterpolateMode::bilinear, true});
  EXPECT_EQ(y.dtype(), DType::f16);
  EXPECT_EQ(values(y)[6], 3);
}

TEST(Interpolate, LayersTakeASizeOrAFactor) {
  const auto by_size = nn::Interpolate2dConfig{.output_size = {{2, 6}}, .mode = "linear"}.init();
  EXPECT_THAT(by_size(image()).dims(), ElementsAre(1, 1, 2, 6));
  const auto by_factor = nn::Interpolate2dConfig{.scale_factor = {{2, 0.5}}, .mode = "cubic"}.init();
  EXPECT_THAT(by_factor(image()).dims(), ElementsAre(1, 1, 6, 1));
  expect_near(nn::Interpolate1dConfig{.output_size = 2}.init()(line()), {0, 20});
  EXPECT_THAT(error_of([] { nn::Interpolate1dConfig{}.init(); }), HasSubstr("one of output_size and scale_factor"));
  EXPECT_THAT(error_of([] { nn::Interpolate1dConfig{.output_size = 2, .mode = "bilineal"}.init(); }),
              HasSubstr("mode is \"bilineal\", must be nearest, nearest_exact, linear, cubic or lanczos"));
  EXPECT_THAT(error_of([] { nn::Interpolate1dConfig{.scale_factor = -1}.init(); }), HasSubstr("must be positive"));
  EXPECT_THAT(error_of([] {
                module::interpolate(image(), {0, 3});
              }),
              HasSubstr("interpolate: cannot go from size 3 to 0 in spatial dim 0"));
}

TEST(GridSample, AffineGridsOfTheIdentityGiveTheImage) {
  const auto identity = Tensor<3>::from_data({{{1, 0, 0}, {0, 1, 0}}}, cpu());
  const auto grid = grid::affine_grid_2d(identity, {1, 1, 3, 3});
  for (const auto mode : {InterpolateMode::nearest, InterpolateMode::bilinear}) {
    expect_near(image().grid_sample_2d(grid, {.mode = mode, .align_corners = true}), {1, 2, 3, 4, 5, 6, 7, 8, 9});
  }
  expect_near(grid::affine_grid_2d(identity, {1, 1, 1, 2}), {-1, 0, 1, 0});
}

TEST(GridSample, PlacesOutsideAreWhatThePaddingSays) {
  const auto at = [](float x, float y) { return Tensor<4>::from_data({{{{x, y}}}}, cpu()); };
  const auto sample = [&](float x, float y, GridSamplePaddingMode padding) {
    return values(image().grid_sample_2d(at(x, y), {.padding_mode = padding, .align_corners = true}))[0];
  };
  EXPECT_EQ(sample(3, 0, GridSamplePaddingMode::zeros), 0);
  EXPECT_EQ(sample(1.5, 0, GridSamplePaddingMode::zeros), 3);  // half of the border pixel
  EXPECT_EQ(sample(3, 0, GridSamplePaddingMode::border), 6);
  EXPECT_EQ(sample(1.5, 0, GridSamplePaddingMode::reflection), 5.5);
  EXPECT_EQ(sample(4, 0, GridSamplePaddingMode::reflection), 5);
  EXPECT_EQ(sample(kInf, 0, GridSamplePaddingMode::zeros), 0);
  EXPECT_EQ(sample(NAN, NAN, GridSamplePaddingMode::zeros), 0);
  EXPECT_EQ(sample(-kInf, 0, GridSamplePaddingMode::border), 4);
}

TEST(GridSample, RefusesWhatDoesNotFit) {
  const auto grid = Tensor<4>::zeros({2, 3, 3, 2}, cpu());
  EXPECT_THAT(error_of([&] { image().grid_sample_2d(grid); }),
              HasSubstr("image f32[1, 1, 3, 3] and grid f32[2, 3, 3, 2] are not"));
  EXPECT_THAT(error_of([&] {
                image().grid_sample_2d(Tensor<4>::zeros({1, 3, 3, 2}, cpu()), {.mode = InterpolateMode::bicubic});
              }),
              HasSubstr("must be nearest or bilinear"));
  EXPECT_THAT(error_of([&] {
                grid::affine_grid_2d(Tensor<3>::zeros({2, 2, 3}, cpu()), {1, 1, 3, 3});
              }),
              HasSubstr("affine_grid_2d: f32[2, 2, 3] is not one float [2, 3] map for each image of [1, 1, 3, 3]"));
  EXPECT_THAT(image().grid_sample_2d(Tensor<4>::zeros({1, 0, 3, 2}, cpu())).dims(), ElementsAre(1, 1, 0, 3));
}

TEST(Unfold, ColumnsAreWindowsAndFoldSumsThem) {
  const auto columns = nn::Unfold4dConfig{.kernel_size = {2, 2}}.init()(image());
  expect_near(columns, {1, 2, 4, 5, 2, 3, 5, 6, 4, 5, 7, 8, 5, 6, 8, 9});
  const auto back = nn::Fold4dConfig{.output_size = {3, 3}, .kernel_size = {2, 2}}.init()(columns);
  expect_near(back, {1, 4, 3, 8, 20, 12, 7, 16, 9});
  const auto padded = module::unfold4d(image(), {3, 3}, {.stride = {3, 3}, .padding = {1, 1}, .dilation = {2, 2}});
  EXPECT_THAT(padded.dims(), ElementsAre(1, 9, 1));
  EXPECT_THAT(values(padded), ElementsAre(0, 0, 0, 0, 5, 0, 0, 0, 0));
}

TEST(Unfold, AnInfinityStaysInItsWindows) {
  const auto x = Tensor<4>::from_data({{{{kInf, 2, 3}, {4, 5, 6}}}}, cpu());
  EXPECT_THAT(values(module::unfold4d(x, {2, 1})), ElementsAre(kInf, 2, 3, 4, 5, 6));
}

TEST(Unfold, RefusesWindowsThatDoNotFit) {
  EXPECT_THAT(error_of([] {
                module::unfold4d(image(), {4, 2});
              }),
              HasSubstr("unfold4d: kernel 4, stride 1, padding 0 and dilation 1 do not fit size 3 of spatial dim 0"));
  EXPECT_THAT(error_of([] {
                module::fold4d(line(), {3, 3}, {2, 2});
              }),
              HasSubstr("fold4d: f32[1, 1, 4] is not [n, c * 4, 4], the windows [2, 2] of an image [3, 3]"));
  EXPECT_THAT(error_of([] { nn::Unfold4dConfig{.kernel_size = {2, 0}}.init(); }), HasSubstr("kernel_size[1] is 0"));
  EXPECT_THAT(module::unfold4d(Tensor<4>::zeros({0, 2, 3, 3}, cpu()), {2, 2}).dims(), ElementsAre(0, 8, 4));
}

TEST(PixelShuffle, MovesChannelsIntoPixelsAndBack) {
  const auto x = Tensor<4>::from_data({{{{0}}, {{1}}, {{2}}, {{3}}}}, cpu());
  const auto y = nn::PixelShuffleConfig{.upscale_factor = 2}.init()(x);
  EXPECT_THAT(y.dims(), ElementsAre(1, 1, 2, 2));
  expect_near(y, {0, 1, 2, 3});
  const auto back = nn::PixelUnshuffleConfig{.downscale_factor = 2}.init()(y);
  EXPECT_THAT(back.dims(), ElementsAre(1, 4, 1, 1));
  expect_near(back, {0, 1, 2, 3});
  EXPECT_THAT(error_of([] { nn::PixelShuffle{.upscale_factor = 2}(image()); }),
              HasSubstr("pixel_shuffle: 4 does not divide the channels of f32[1, 1, 3, 3]"));
  EXPECT_THAT(error_of([] { nn::PixelUnshuffle{.downscale_factor = 2}(image()); }),
              HasSubstr("pixel_unshuffle: 2 does not divide the height"));
}

TEST(DeformConv, WithoutOffsetsIsAConvolution) {
  const auto x = test::spread_tensor<4>({2, 4, 5, 6}, cpu());
  const auto weight = test::spread_tensor<4>({6, 2, 3, 3}, cpu(), 1);
  const auto bias = test::spread_tensor<1>({6}, cpu(), 2);
  const auto expected =
      module::conv2d(x, weight, bias, ConvOptions<2>{.stride = {2, 1}, .padding = {1, 1}, .groups = 2});
  const auto y =
      module::deform_conv2d(x, Tensor<4>::zeros({2, 36, 3, 6}, cpu()), weight, Tensor<4>::ones({2, 18, 3, 6}, cpu()),
                            bias, {.stride = {2, 1}, .padding = {1, 1}, .weight_groups = 2, .offset_groups = 2});
  expect_near(y, values(expected), 1e-4);
  const auto layer = nn::DeformConv2dConfig{.channels = {4, 6}, .kernel_size = {3, 3}, .weight_groups = 2}.init(cpu());
  EXPECT_THAT(layer(x, Tensor<4>::zeros({2, 18, 3, 4}, cpu())).dims(), ElementsAre(2, 6, 3, 4));
  EXPECT_THAT(error_of([&] {
                layer(x, Tensor<4>::zeros({2, 18, 3, 5}, cpu()));
              }),
              HasSubstr("want offsets [2, 18, 3, 4] and a mask of half as many, got f32[2, 18, 3, 5]"));
  EXPECT_THAT(error_of([] {
                nn::DeformConv2dConfig{.channels = {3, 4}, .kernel_size = {1, 1}, .weight_groups = 2}.init(cpu());
              }),
              HasSubstr("2 weight groups and 1 offset groups do not divide 3 input and 4 output channels"));
}

TEST(LocalResponseNorm, DividesByTheMeanSquareOfNeighbours) {
  const auto x = Tensor<3>::from_data({{{1}, {2}, {3}}}, cpu());
  const auto y = nn::LocalResponseNormConfig{.size = 2, .alpha = 2, .beta = 1, .k = 1}.init()(x);
  expect_near(y, {1.0 / 6, 2.0 / 14, 3.0 / 10});  // the neighbours are channels c and c + 1
  test::expect_gradients(nn::LocalResponseNorm{.size = 3, .alpha = 0.5}, test::spread_tensor<4>({1, 4, 2, 2}, cpu()),
                         [](const auto& layer, const auto& input) { return layer(input); });
}

TEST(Pools, InThreeDimsAndToASize) {
  const auto volume = image().reshape<5>({1, 1, 1, 3, 3});
  expect_near(nn::MaxPool3dConfig{.kernel_size = {1, 2, 2}, .strides = {{1, 1, 1}}}.init()(volume), {5, 6, 8, 9});
  expect_near(nn::AvgPool3dConfig{.kernel_size = {1, 3, 1}}.init()(volume), {4, 5, 6});
  expect_near(nn::AdaptiveMaxPool2dConfig{.output_size = {2, 2}}.init()(image()), {5, 6, 8, 9});
  const auto [largest, where] = module::adaptive_max_pool2d_with_indices(image(), {1, 3});
  expect_near(largest, {7, 8, 9});
  EXPECT_THAT(values(where), ElementsAre(6, 7, 8));
  EXPECT_THAT(
      values(nn::AdaptiveMaxPool1dConfig{.output_size = 2}.init()(Tensor<3>::from_data({{{1, NAN, 2, 3}}}, cpu())))[1],
      3);
}

TEST(Pools, HaveTheirGradientsAsFunctions) {
  const auto x = image();
  const auto [y, indices] = module::max_pool2d_with_indices(x, {2, 2}, {1, 1});
  const auto back = module::max_pool2d_with_indices_backward(x, {2, 2}, {1, 1}, {0, 0}, {1, 1}, false,
                                                             Tensor<4>::ones_like(y), indices);
  expect_near(back, {0, 0, 0, 0, 1, 1, 0, 1, 1});
  EXPECT_THAT(error_of([&] {
                module::max_pool2d_with_indices_backward(x, {3, 3}, {1, 1}, {0, 0}, {1, 1}, false,
                                                         Tensor<4>::ones_like(y), indices);
              }),
              HasSubstr("pooling gives f32[1, 1, 1, 1], the gradient is f32[1, 1, 2, 2]"));
  expect_near(module::avg_pool2d_backward(x, Tensor<4>::ones({1, 1, 1, 1}, cpu()), {3, 3}, {3, 3}),
              std::vector<double>(9, 1.0 / 9));
  const auto weight = Tensor<4>::ones({1, 1, 2, 2}, cpu());
  expect_near(module::conv2d_weight_backward(x, weight, Tensor<4>::ones({1, 1, 2, 2}, cpu())), {12, 16, 24, 28});
}

TEST(Convolution, PadsEachEndAsToldTo) {
  const auto x = Tensor<3>::from_data({{{1, 2, 3}}}, cpu());
  const auto weight = Tensor<3>::ones({1, 1, 2}, cpu());
  expect_near(module::conv1d(x, weight, std::nullopt, PaddedConvOptions<1>::asymmetric({0}, {2})), {3, 5, 3, 0});
  expect_near(module::conv_transpose1d(x, weight, std::nullopt, {.stride = {2}}), {1, 1, 2, 2, 3, 3});
}

TEST(SingleLayers, AsFunctions) {
  const auto table = Tensor<2>::from_data({{1, 2}, {3, 4}}, cpu());
  expect_near(module::embedding(table, Tensor<2, Int>::from_data({{1, 0}}, cpu())), {3, 4, 1, 2});
  const auto one = Tensor<1>::ones({2}, cpu()), zero = Tensor<1>::zeros({2}, cpu());
  expect_near(module::batch_norm(table, one, zero, zero, one, 0), {1, 2, 3, 4});
  expect_near(module::layer_norm(table, one, std::nullopt, 0), {-1, 1, -1, 1});
  EXPECT_THAT(error_of([&] { module::batch_norm(table, one, zero, zero, Tensor<1>::ones({3}, cpu())); }),
              HasSubstr("has 3 channels, the input is f32[2, 2]"));
}

}  // namespace
}  // namespace burn
