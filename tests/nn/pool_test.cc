// Pooling, also with windows that reach beyond the input.
#include "nn/pool/pool.h"

#include "tests/nn/nn_test.h"

namespace burn {
namespace {

using test::cpu;
using test::error_of;
using test::expect_near;
using ::testing::ElementsAre;

Tensor<3> line() { return Tensor<3>::from_data({{{1, 5, 2, 4, 3}}}, cpu()); }
Tensor<4> image() { return Tensor<4>::from_data({{{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}}}, cpu()); }

// Checks the gradient with respect to the input, as a pooling module has no parameters.
template <typename Pool, int D>
void expect_input_gradient(const Pool& pool, const Tensor<D>& x) {
  test::expect_gradients(pool, x, [](const auto& module, const auto& input) { return module(input); });
}

TEST(MaxPool, TakesTheLargestOfEachWindow) {
  expect_near(nn::MaxPool1dConfig{.kernel_size = 2}.init()(line()), {5, 4});
  expect_near(nn::MaxPool1dConfig{.kernel_size = 2, .stride = 1}.init()(line()), {5, 5, 4, 4});
  expect_near(nn::MaxPool1dConfig{.kernel_size = 2, .ceil_mode = true}.init()(line()), {5, 4, 3});
  expect_near(nn::MaxPool1dConfig{.kernel_size = 2, .stride = 1, .dilation = 2}.init()(line()), {2, 5, 3});
  expect_near(nn::MaxPool2dConfig{.kernel_size = {2, 2}, .strides = {{1, 1}}}.init()(image()), {5, 6, 8, 9});
}

TEST(MaxPool, PaddingNeverWins) {
  const auto x = line() - 10;
  expect_near(
      nn::MaxPool1dConfig{.kernel_size = 3, .stride = 2, .padding = nn::PaddingConfig1d::explicit_({1})}.init()(x),
      {-5, -5, -6});
  expect_near(nn::MaxPool1dConfig{.kernel_size = 2, .stride = 1, .padding = nn::PaddingConfig1d::same()}.init()(x),
              {-5, -5, -6, -6, -7});
  expect_near(
      nn::MaxPool1dConfig{.kernel_size = 2, .stride = 2, .padding = nn::PaddingConfig1d::explicit_({1}, {0})}.init()(x),
      {-9, -5, -6});
}

TEST(AvgPool, AveragesEachWindow) {
  expect_near(nn::AvgPool1dConfig{.kernel_size = 2}.init()(line()), {3, 3});
  expect_near(nn::AvgPool2dConfig{.kernel_size = {2, 3}, .strides = {{1, 1}}}.init()(image()), {3.5, 6.5});
}

TEST(AvgPool, CountsPaddingOrNot) {
  using nn::PaddingConfig1d;
  expect_near(
      nn::AvgPool1dConfig{.kernel_size = 2, .stride = 2, .padding = PaddingConfig1d::explicit_({1})}.init()(line()),
      {0.5, 3.5, 3.5});
  expect_near(
      nn::AvgPool1dConfig{
          .kernel_size = 2, .stride = 2, .padding = PaddingConfig1d::explicit_({1}), .count_include_pad = false}
          .init()(line()),
      {1, 3.5, 3.5});
  expect_near(nn::AvgPool1dConfig{.kernel_size = 2, .stride = 1, .padding = PaddingConfig1d::same()}.init()(line()),
              {3, 3.5, 3, 3.5, 1.5});
  expect_near(
      nn::AvgPool1dConfig{.kernel_size = 2, .stride = 1, .padding = PaddingConfig1d::same(), .count_include_pad = false}
          .init()(line()),
      {3, 3.5, 3, 3.5, 3});
}

TEST(Pool, StridesAreTheKernelUnlessGiven) {
  const auto pool = nn::MaxPool2dConfig{.kernel_size = {2, 3}}.init();
  EXPECT_THAT(pool.stride, ElementsAre(2, 3));
  EXPECT_THAT((nn::AvgPool2dConfig{.kernel_size = {2, 3}, .strides = {{1, 2}}}.init().stride), ElementsAre(1, 2));
}

TEST(AdaptiveAvgPool, GivesTheSizeAskedFor) {
  expect_near(nn::AdaptiveAvgPool1dConfig{.output_size = 2}.init()(line()), {8.0 / 3, 3});
  expect_near(nn::AdaptiveAvgPool2dConfig{.output_size = {1, 2}}.init()(image()), {4.5, 5.5});
  EXPECT_THAT((nn::AdaptiveAvgPool2dConfig{.output_size = {5, 7}}.init()(image()).dims()), ElementsAre(1, 1, 5, 7));
  const auto volume = nn::AdaptiveAvgPool3dConfig{.output_size = {1, 1, 1}}.init()(image().reshape<5>({1, 1, 1, 3, 3}));
  expect_near(volume, {5});
}

TEST(Pool, HasTheRightGradients) {
  using nn::PaddingConfig1d;
  const auto x = test::spread_tensor<3>({2, 2, 5}, cpu());
  expect_input_gradient(nn::MaxPool1dConfig{.kernel_size = 2, .stride = 1, .padding = PaddingConfig1d::same()}.init(),
                        x);
  expect_input_gradient(
      nn::MaxPool1dConfig{.kernel_size = 3, .stride = 2, .padding = PaddingConfig1d::explicit_({1})}.init(), x);
  expect_input_gradient(
      nn::AvgPool1dConfig{.kernel_size = 3, .stride = 2, .padding = PaddingConfig1d::explicit_({1})}.init(), x);
  expect_input_gradient(
      nn::AvgPool1dConfig{.kernel_size = 2, .stride = 1, .padding = PaddingConfig1d::same(), .count_include_pad = false}
          .init(),
      x);
  expect_input_gradient(nn::AdaptiveAvgPool1dConfig{.output_size = 3}.init(), x);
  const auto image = test::spread_tensor<4>({1, 2, 4, 4}, cpu());
  expect_input_gradient(nn::MaxPool2dConfig{.kernel_size = {2, 2}}.init(), image);
  expect_input_gradient(nn::AdaptiveAvgPool2dConfig{.output_size = {3, 2}}.init(), image);
}

TEST(Pool, RefusesWhatDoesNotFit) {
  EXPECT_EQ(error_of([] { (void)nn::MaxPool1dConfig{}.init(); }),
            "MaxPool1dConfig: kernel_size[0] is 0, must be at least 1");
  EXPECT_EQ(error_of([] {
              (void)nn::AvgPool2dConfig{.kernel_size = {2, 2}, .strides = {{1, 0}}}.init();
            }),
            "AvgPool2dConfig: stride[1] is 0, must be at least 1");
  EXPECT_EQ(error_of([] {
              (void)nn::AdaptiveAvgPool2dConfig{.output_size = {8, 0}}.init();
            }),
            "AdaptiveAvgPool2dConfig: output_size[1] is 0, must be at least 1");
  EXPECT_EQ(error_of([] { (void)nn::MaxPool1dConfig{.kernel_size = 9}.init()(line()); }),
            "max_pool1d: kernel 9 with dilation 1 does not fit input size 5 with padding 0 and 0");
}

}  // namespace
}  // namespace burn
