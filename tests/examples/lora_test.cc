// The example lora: which parameters it trains, that it learns, and that the merged model computes the same.
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "examples/lora/tune.h"
#include "tests/support/temp_folder.h"

namespace lora {
namespace {

using ::testing::HasSubstr;

// 200 repetitions of `letters`.
std::string text_of(const std::string& letters) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += letters;
  return text;
}

TEST(LoraExample, LearnsAnotherTextByItsAdaptersAlone) {
  const burn::test::TempFolder folder;
  gpt2::Options base{.layers = 1, .heads = 2, .model = 32, .context = 16, .batch = 4, .steps = 30, .warmup = 1};
  base.lr = 1e-2;
  base.save = folder / "base.safetensors";
  std::ostringstream out;
  const auto before = gpt2::train(base, text_of("ab"), out);
  Options options{.base = base, .rank = 4, .adapters = folder / "adapters.safetensors"};
  options.base.start = base.save;
  options.base.save.clear();
  options.base.steps = 60;
  const auto tuned = tune(options, text_of("ac"), out);
  EXPECT_LT(tuned.difference, 1e-5);
  EXPECT_LT(tuned.losses.back(), 0.5 * tuned.losses.front());
  EXPECT_LT(tuned.share, 0.1);
  const auto adapters = Record::load(options.adapters);
  EXPECT_EQ(adapters.names(),
            (std::vector<std::string>{"blocks.0.project.weight.lora_a", "blocks.0.project.weight.lora_b",
                                      "blocks.0.qkv.weight.lora_a", "blocks.0.qkv.weight.lora_b"}));
  // Tensors without adapters are unchanged.
  const auto table = [](const gpt2::Gpt2& net) { return net.tokens.weight.val().to_data().to_vec<float>(); };
  EXPECT_EQ(table(tuned.merged), table(before.net));
  EXPECT_THAT(out.str(), HasSubstr("of them trained"));
}

// The smallest GPT-2; its random numbers are never computed.
TEST(LoraExample, TrainsUnderOnePercentOfGpt2) {
  const Device device = Device{"cpu"}.autodiff();
  const auto whole = gpt2::Gpt2Config{}.init(device);
  EXPECT_GT(whole.num_params(), 124'000'000);
  const Options options;
  const auto tuned = nn::apply_lora(whole, {.rank = 8, .group = burn::ParamGroup::from_regex(options.group)});
  EXPECT_EQ(tuned.num_params() - whole.num_params(), 12 * 8 * (768 + 3 * 768 + 768 + 768));
  EXPECT_LT(static_cast<double>(tuned.num_params() - whole.num_params()),
            0.01 * static_cast<double>(tuned.num_params()));
}

}  // namespace
}  // namespace lora
