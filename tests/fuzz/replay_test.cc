// The fuzz targets without a fuzzer: what fuzzing kept, and inputs from a fixed seed, so that every test run says a few
// thousand strange things.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include <gtest/gtest.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::vector<std::uint8_t>> corpus() {
  std::vector<std::vector<std::uint8_t>> inputs;
  std::error_code why;
  for (std::filesystem::directory_iterator it{BURN_CORPUS, why}, end; !why && it != end; it.increment(why)) {
    std::ifstream file{it->path(), std::ios::binary};
    inputs.emplace_back(std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{});
  }
  return inputs;
}

TEST(Fuzz, SurvivesInputsByTheThousand) {
  std::mt19937 random{20240118};
  for (int i = 0; i < 5000; ++i) {
    std::vector<std::uint8_t> input(1 + random() % 300);
    for (auto& byte : input) byte = static_cast<std::uint8_t>(random());
    input[0] |= 1;  // a conversation begins with a hello, mostly
    if (i % 16 == 0) input[0] = 0;
    EXPECT_EQ(LLVMFuzzerTestOneInput(input.data(), input.size()), 0);
  }
}

TEST(Fuzz, SurvivesWhatWasKeptAndItsNeighbours) {
  std::mt19937 random{7};
  const auto inputs = corpus();
  ASSERT_FALSE(inputs.empty()) << BURN_CORPUS;
  for (const auto& input : inputs) {
    EXPECT_EQ(LLVMFuzzerTestOneInput(input.data(), input.size()), 0);
    for (int i = 0; i < 20 && !input.empty(); ++i) {
      auto changed = input;
      changed[random() % changed.size()] = static_cast<std::uint8_t>(random());
      if (i % 4 == 0) changed.resize(random() % changed.size());
      EXPECT_EQ(LLVMFuzzerTestOneInput(changed.data(), changed.size()), 0);
    }
  }
}

}  // namespace
