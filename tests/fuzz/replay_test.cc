// The fuzz targets without a fuzzer: inputs from a fixed seed, so that every test run says a few thousand strange
// things.
#include <random>
#include <vector>

#include <gtest/gtest.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

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
