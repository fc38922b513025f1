// The language model of examples/gpt2: it learns in f32 and in bf16, uses one table for its embedding and its head, and
// writes the same text with a cache as without.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "examples/gpt2/generate.h"
#include "examples/gpt2/train.h"

namespace gpt2 {
namespace {

// Phrases in an order with a long period.
std::string text() {
  const std::string parts[] = {"the worker runs ", "a program ", "that the client ", "has recorded. ", "tensors stay "};
  std::string all;
  for (std::size_t i = 0; all.size() < 8192; ++i) all += parts[i * i % 5] + parts[i * i * i % 7 % 5];
  return all;
}

Options small() {
  return {.layers = 2, .heads = 4, .model = 64, .context = 64, .batch = 8, .steps = 30, .warmup = 5, .lr = 3e-3};
}

double mean(const std::vector<float>& x, std::ptrdiff_t from, std::ptrdiff_t to) {
  return std::accumulate(x.begin() + from, x.begin() + to, 0.0) / static_cast<double>(to - from);
}

std::vector<float> losses_of(const Options& options) {
  std::ostringstream out;
  auto trained = train(options, text(), out);
  EXPECT_EQ(trained.losses.size(), static_cast<std::size_t>(options.steps));
  EXPECT_THAT(out.str(), ::testing::HasSubstr("tokens/s"));
  return trained.losses;
}

TEST(Gpt2, LearnsInBothPrecisions) {
  const auto exact = losses_of(small());
  EXPECT_NEAR(exact[0], std::log(256), 0.2);
  EXPECT_LT(mean(exact, 25, 30), 0.6 * exact[0]);
  auto options = small();
  options.dtype = "bf16";
  const auto rounded = losses_of(options);
  EXPECT_NEAR(rounded[0], exact[0], 0.01);
  EXPECT_NEAR(mean(rounded, 25, 30), mean(exact, 25, 30), 0.1);
}

TEST(Gpt2, GoesOnFromWhatItSaved) {
  const std::filesystem::path folder{::testing::TempDir()};
  auto options = small();
  options.steps = 0;
  options.save = folder / "gpt2-start.safetensors";
  std::ostringstream out;
  train(options, text(), out);
  options = small();
  options.steps = 3;
  const auto direct = train(options, text(), out).losses;
  options.start = folder / "gpt2-start.safetensors";
  options.losses = folder / "gpt2-losses.txt";
  EXPECT_EQ(train(options, text(), out).losses, direct);
  std::ifstream file{options.losses};
  std::vector<float> written;
  for (float loss = 0; file >> loss;) written.push_back(loss);
  EXPECT_THAT(written, ::testing::Pointwise(::testing::FloatNear(1e-5F), direct));
  options.start = folder / "not-there.safetensors";
  EXPECT_THROW(train(options, text(), out), Error);
}

TEST(Gpt2, HasOneTableForBothEnds) {
  const Device ad = Device{"cpu"}.autodiff();
  auto net = Gpt2Config{.vocabulary = 256, .context = 8, .model = 16, .heads = 2, .layers = 1}.init(ad);
  const std::int64_t block = 16 * 48 + 48 + 16 * 16 + 16 + 2 * 16 * 64 + 64 + 16 + 4 * 16;
  EXPECT_EQ(net.num_params(), 256 * 16 + 8 * 16 + block + 2 * 16);
  const auto tokens = Tensor<2, Int>::from_data({{1, 2, 3}}, ad), next = Tensor<2, Int>::from_data({{2, 3, 4}}, ad);
  auto gradients = GradientsParams::from_grads(net.loss(tokens, next).backward(), net);
  // Token 200 occurs neither in the input nor in the targets, so its row of the table has a gradient from the head
  // only.
  const auto gradient = *gradients.get(net.tokens.weight);
  EXPECT_GT(gradient.abs().narrow(0, 200, 1).sum().into_scalar<float>(), 0);
}

std::vector<std::int64_t> written(const Gpt2& net, std::int64_t count, bool has_cache) {
  const auto prompt = Tensor<2, Int>::from_data({{116, 104, 101, 32}}, Device{"cpu"});
  Generator generator{net, prompt, 0, has_cache};
  std::vector<std::int64_t> tokens;
  for (std::int64_t i = 0; i < count; ++i) tokens.push_back(generator.next().to_data().to_vec<std::int64_t>()[0]);
  return tokens;
}

TEST(Gpt2, WritesTheSameWithACacheAsWithout) {
  std::ostringstream out;
  auto options = small();
  options.steps = 80;  // enough to write words
  const auto net = train(options, text(), out).net.valid();
  // Longer than the context, so that the older half of it is dropped.
  const auto with_cache = written(net, 100, true);
  EXPECT_EQ(with_cache, written(net, 100, false));
  const std::set<std::int64_t> different(with_cache.begin(), with_cache.end());
  EXPECT_GT(different.size(), 5U);
}

TEST(Gpt2, DrawsTokensByTheirProbability) {
  const Device device{"cpu"};
  device.seed(5);
  const auto logits = Tensor<2>::from_data({{0.0F, std::log(3.0F)}}, device).expand<2>({4000, 2});
  const auto drawn = pick(logits, 1).to_float().mean().into_scalar<float>();
  EXPECT_NEAR(drawn, 0.75, 0.03);
  EXPECT_EQ(pick(logits, 0).to_float().mean().into_scalar<float>(), 1);
  EXPECT_NEAR(pick(logits, 0.5).to_float().mean().into_scalar<float>(), 0.9, 0.02);
}

TEST(Gpt2, ContinuesAPrompt) {
  auto options = small();
  options.steps = 1;
  options.generate = 5;
  options.dtype = "bf16";
  options.prompt = "the ";
  std::ostringstream out;
  const auto trained = train(options, text(), out);
  out.str("");
  write(options, trained.net, out);
  EXPECT_EQ(out.str().size(), 4U + 5 + 1);
  EXPECT_EQ(out.str().substr(0, 4), "the ");
}

TEST(Gpt2, SaysWhatCannotBe) {
  std::ostringstream out;
  auto options = small();
  EXPECT_THROW(train(options, "too short", out), Error);
  options.vocabulary = 100;
  EXPECT_THROW(train(options, text(), out), Error);
  options = small();
  options.dtype = "i32";
  EXPECT_THROW(train(options, text(), out), Error);
  EXPECT_THROW(read_text("/nowhere/input.txt"), Error);
  EXPECT_THROW((Gpt2Config{.model = 10, .heads = 3}.init(Device{"cpu"})), Error);
}

TEST(Gpt2, LearningRateRisesAndFalls) {
  const Options options{.steps = 100, .warmup = 10, .lr = 1};
  EXPECT_DOUBLE_EQ(learning_rate(options, 0), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(options, 9), 1);
  EXPECT_DOUBLE_EQ(learning_rate(options, 10), 1);
  EXPECT_NEAR(learning_rate(options, 55), 0.55, 1e-9);
  EXPECT_NEAR(learning_rate(options, 99), 0.1, 0.01);
}

}  // namespace
}  // namespace gpt2
