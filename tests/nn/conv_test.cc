// Convolutions and transposed convolutions.
#include "nn/conv/conv.h"

#include <cmath>

#include "tests/nn/nn_test.h"

namespace burn {
namespace {

using test::cpu;
using test::error_of;
using test::expect_near;
using ::testing::ElementsAre;

const auto kForward = [](const auto& module, const auto& x) { return module(x); };

Tensor<4> image() { return Tensor<4>::from_data({{{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}}}, cpu()); }

TEST(Conv, SlidesTheKernelWithoutFlippingIt) {
  const nn::Conv2d layer{.weight = Tensor<4>::from_data({{{{1, 0}, {0, -2}}}}, cpu()),
                         .bias = Tensor<1>::from_data({100}, cpu())};
  expect_near(layer(image()), {91, 90, 88, 87});
}

TEST(Conv, StridesAndDilates) {
  const nn::Conv1d strided{.weight = Tensor<3>::from_data({{{1, 10}}}, cpu()), .stride = {2}};
  const auto x = Tensor<3>::from_data({{{1, 2, 3, 4, 5}}}, cpu());
  expect_near(strided(x), {21, 43});
  const nn::Conv1d dilated{.weight = Tensor<3>::from_data({{{1, 10}}}, cpu()), .dilation = {3}};
  expect_near(dilated(x), {41, 52});
}

TEST(Conv, GroupsSeeTheirOwnChannels) {
  const nn::Conv1d layer{.weight = Tensor<3>::from_data({{{1}}, {{10}}}, cpu()), .groups = 2};
  expect_near(layer(Tensor<3>::from_data({{{1, 2}, {3, 4}}}, cpu())), {1, 2, 30, 40});
}

TEST(Conv, PadsAsTold) {
  const auto weight = Tensor<3>::from_data({{{1, 10}}}, cpu());
  const auto x = Tensor<3>::from_data({{{1, 2, 3}}}, cpu());
  expect_near(nn::Conv1d{.weight = weight}(x), {21, 32});
  expect_near(nn::Conv1d{.weight = weight, .padding = nn::PaddingConfig1d::explicit_({1})}(x), {10, 21, 32, 3});
  expect_near(nn::Conv1d{.weight = weight, .padding = nn::PaddingConfig1d::explicit_({2}, {0})}(x), {0, 10, 21, 32});
  // For an even kernel, the extra element of padding is at the end.
  expect_near(nn::Conv1d{.weight = weight, .padding = nn::PaddingConfig1d::same()}(x), {21, 32, 3});
}

TEST(Conv, SamePaddingGivesInputOverStride) {
  for (const std::int64_t size : {4, 5, 6, 7}) {
    for (const std::int64_t kernel : {1, 2, 3, 5}) {
      for (const std::int64_t stride : {1, 2, 3}) {
        const auto layer = nn::Conv1dConfig{.channels_in = 1,
                                            .channels_out = 1,
                                            .kernel_size = kernel,
                                            .stride = stride,
                                            .padding = nn::PaddingConfig1d::same()}
                               .init(cpu());
        EXPECT_EQ(layer(Tensor<3>::ones({1, 1, size}, cpu())).dim(2), (size + stride - 1) / stride)
            << size << " " << kernel << " " << stride;
      }
    }
  }
  const auto dilated = nn::Conv2dConfig{
      .channels = {1, 1}, .kernel_size = {3, 2}, .dilation = {2, 3}, .padding = nn::PaddingConfig2d::same()};
  EXPECT_THAT(dilated.init(cpu())(Tensor<4>::ones({1, 1, 6, 7}, cpu())).dims(), ElementsAre(1, 1, 6, 7));
}

TEST(Conv, ThreeDims) {
  const nn::Conv3d layer{.weight = Tensor<5>::ones({1, 1, 2, 2, 2}, cpu())};
  const auto x = Tensor<1, Int>::arange(0, 12, cpu()).to_float().reshape<5>({1, 1, 2, 2, 3});
  expect_near(layer(x), {0 + 1 + 3 + 4 + 6 + 7 + 9 + 10, 1 + 2 + 4 + 5 + 7 + 8 + 10 + 11});
}

TEST(Conv, StartsWithinTheBoundOfItsFanIn) {
  const auto layer = nn::Conv2dConfig{.channels = {4, 8}, .kernel_size = {3, 2}, .groups = 2}.init(cpu());
  EXPECT_THAT(layer.weight.val().dims(), ElementsAre(8, 2, 3, 2));
  const double bound = 1 / std::sqrt(2.0 * 3 * 2) + 1e-6;
  for (const double w : test::values(layer.weight.val())) EXPECT_LE(std::abs(w), bound);
  EXPECT_EQ(layer.num_params(), 8 * 2 * 3 * 2 + 8);
}

TEST(Conv, HasTheRightGradients) {
  cpu().seed(8);
  const auto conv1d = nn::Conv1dConfig{.channels_in = 2,
                                       .channels_out = 4,
                                       .kernel_size = 3,
                                       .stride = 2,
                                       .groups = 2,
                                       .padding = nn::PaddingConfig1d::explicit_({1}, {2})}
                          .init(cpu());
  test::expect_gradients(conv1d, test::spread_tensor<3>({2, 2, 5}, cpu()), kForward);
  const auto conv2d = nn::Conv2dConfig{.channels = {2, 2},
                                       .kernel_size = {2, 3},
                                       .dilation = {1, 2},
                                       .padding = nn::PaddingConfig2d::same(),
                                       .bias = false}
                          .init(cpu());
  test::expect_gradients(conv2d, test::spread_tensor<4>({1, 2, 3, 4}, cpu()), kForward);
  const auto conv3d = nn::Conv3dConfig{.channels = {1, 2}, .kernel_size = {1, 2, 2}}.init(cpu());
  test::expect_gradients(conv3d, test::spread_tensor<5>({1, 1, 2, 2, 3}, cpu()), kForward);
}

TEST(Conv, RefusesWhatDoesNotFit) {
  using Config = nn::Conv2dConfig;
  EXPECT_EQ(error_of([] {
              (void)Config{.channels = {1, 8}}.init(cpu());
            }),
            "Conv2dConfig: kernel_size[0] is 0, must be at least 1");
  EXPECT_EQ(error_of([] {
              (void)Config{.channels = {3, 4}, .kernel_size = {1, 1}, .groups = 2}.init(cpu());
            }),
            "Conv2dConfig: 2 groups do not divide 3 input and 4 output channels");
  EXPECT_EQ(error_of([] {
              (void)Config{.channels = {1, 1}, .kernel_size = {1, 1}, .padding = {.kind = "full"}}.init(cpu());
            }),
            "Conv2dConfig: there is no padding \"full\"; there are: valid, same, explicit");
  EXPECT_EQ(error_of([] {
              (void)Config{
                  .channels = {1, 1}, .kernel_size = {1, 1}, .padding = nn::PaddingConfig2d::explicit_({0, -1})}
                  .init(cpu());
            }),
            "Conv2dConfig: padding.begin[1] is -1, must be at least 0");
  const auto layer = Config{.channels = {2, 1}, .kernel_size = {2, 2}}.init(cpu());
  EXPECT_EQ(error_of([&] { (void)layer(image()); }),
            "conv2d: the layer takes 2 channels, the input is f32[1, 1, 3, 3]");
  EXPECT_EQ(error_of([&] {
              (void)layer(Tensor<4>::ones({1, 2, 1, 3}, cpu()));
            }),
            "conv2d: kernel 2 with dilation 1 does not fit input size 1 with padding 0 and 0");
}

// Every element of the input adds the kernel, scaled by it, at the element's position in the result.
TEST(ConvTranspose, SpreadsTheKernel) {
  const nn::ConvTranspose1d layer{.weight = Tensor<3>::from_data({{{1, 10, 100}}}, cpu()), .stride = {2}};
  expect_near(layer(Tensor<3>::from_data({{{1, 2}}}, cpu())), {1, 10, 102, 20, 200});
  const nn::ConvTranspose1d padded{.weight = Tensor<3>::from_data({{{1, 10, 100}}}, cpu()),
                                   .bias = Tensor<1>::from_data({0.5f}, cpu()),
                                   .stride = {2},
                                   .padding = {1},
                                   .padding_out = {1}};
  expect_near(padded(Tensor<3>::from_data({{{1, 2}}}, cpu())), {10.5, 102.5, 20.5, 200.5});
}

TEST(ConvTranspose, ShapesAndGroups) {
  const auto two = nn::ConvTranspose2dConfig{.channels = {4, 6},
                                             .kernel_size = {3, 2},
                                             .stride = {2, 1},
                                             .padding = {1, 0},
                                             .padding_out = {1, 0},
                                             .groups = 2}
                       .init(cpu());
  EXPECT_THAT(two.weight.val().dims(), ElementsAre(4, 3, 3, 2));
  EXPECT_THAT(two(Tensor<4>::ones({1, 4, 5, 5}, cpu())).dims(), ElementsAre(1, 6, 10, 6));
  const auto three =
      nn::ConvTranspose3dConfig{.channels = {1, 2}, .kernel_size = {2, 2, 2}, .stride = {2, 2, 2}}.init(cpu());
  EXPECT_THAT(three(Tensor<5>::ones({1, 1, 2, 3, 1}, cpu())).dims(), ElementsAre(1, 2, 4, 6, 2));
}

TEST(ConvTranspose, HasTheRightGradients) {
  const auto one =
      nn::ConvTranspose1dConfig{.channels = {2, 2}, .kernel_size = 3, .stride = 2, .padding = 1, .padding_out = 1}.init(
          cpu());
  test::expect_gradients(one, test::spread_tensor<3>({1, 2, 3}, cpu()), kForward);
  const auto two =
      nn::ConvTranspose2dConfig{.channels = {2, 2}, .kernel_size = {2, 2}, .dilation = {1, 2}, .groups = 2}.init(cpu());
  test::expect_gradients(two, test::spread_tensor<4>({1, 2, 2, 2}, cpu()), kForward);
}

TEST(ConvTranspose, RefusesWhatDoesNotFit) {
  const nn::ConvTranspose2d layer{.weight = Tensor<4>::ones({2, 1, 2, 2}, cpu())};
  EXPECT_EQ(error_of([&] { (void)layer(image()); }),
            "conv_transpose2d: the layer takes 2 channels, the input is f32[1, 1, 3, 3]");
  EXPECT_EQ(error_of([] {
              (void)nn::ConvTranspose1dConfig{.channels = {1, 1}, .kernel_size = 2, .padding_out = 1}.init(cpu());
            }),
            "ConvTranspose1dConfig: padding_out 1 is not below the stride 1 or the dilation 1");
}

}  // namespace
}  // namespace burn
