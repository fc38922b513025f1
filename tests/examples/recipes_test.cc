// The recipes of docs/recipes.md: each learns, and the page quotes the code that is run here.
#include <algorithm>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "examples/recipes/language_model.h"
#include "examples/recipes/regression.h"
#include "examples/recipes/vae.h"
#include "tests/support/temp_folder.h"

namespace burn {
namespace {

TEST(Recipes, ARegressionEndsEarlyWithItsBestModel) {
  const test::TempFolder folder;
  EXPECT_LT(recipes::regression::train(folder / "run", Device::new_session("cpu")), 1e-3);  // noise alone: 1e-4
  EXPECT_TRUE(std::filesystem::exists(folder / "run/best.safetensors"));
}

TEST(Recipes, AnAutoencoderRaisesItsBound) {
  const test::TempFolder folder;
  const auto bounds = recipes::vae::train(folder / "run", Device::new_session("cpu"), 1000, 4);
  ASSERT_EQ(bounds.size(), 4U);
  EXPECT_LT(bounds.back(), 0.8 * bounds.front());
}

TEST(Recipes, ALanguageModelPredictsBytes) {
  const test::TempFolder folder;
  const auto text = test::TempFolder::read("docs/training.md");
  const auto perplexities = recipes::language_model::train(folder / "run", Device::new_session("cpu"), text, 8);
  ASSERT_EQ(perplexities.size(), 8U);
  EXPECT_LT(perplexities.back(), 16);  // a model of byte frequencies alone has more than 20
}

// The code without white space and comments.
std::string bare(const std::string& code) {
  const auto uncommented = std::regex_replace(code, std::regex{"//[^\n]*"}, "");
  return std::regex_replace(uncommented, std::regex{"\\s+"}, "");
}

TEST(Recipes, AreQuotedAsTheyAre) {
  const auto page = test::TempFolder::read("docs/recipes.md");
  std::string all;
  for (const auto* file : {"recipes/regression.h", "recipes/vae.h", "recipes/language_model.h", "wgan/wgan.h",
                           "lora/tune.cc", "mnist/mnist.h"})
    all += bare(test::TempFolder::read(std::string{"examples/"} + file));
  const std::string open = "```cpp\n", close = "```";
  int blocks = 0;
  for (auto at = page.find(open); at != std::string::npos; at = page.find(open, at)) {
    at += open.size();
    const auto block = page.substr(at, page.find(close, at) - at);
    EXPECT_NE(all.find(bare(block)), std::string::npos) << block;
    ++blocks;
  }
  EXPECT_GE(blocks, 5);
}

}  // namespace
}  // namespace burn
