#include "base/host_block.h"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace burn {
namespace {

// The address sanitizer is to see the end of each block: they go back at once.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kKeepsBlocks = false;
#else
constexpr bool kKeepsBlocks = true;
#endif

TEST(HostBlock, IsAlignedAndWritableInAllSizes) {
  for (const std::size_t size : {0ul, 1ul, 4096ul, (4ul << 20) - 1, 4ul << 20, (9ul << 20) + 5}) {
    const auto block = host_block(size);
    ASSERT_NE(block, nullptr) << size;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.get()) % 64, 0u);
    std::memset(block.get(), 1, size);
  }
}

TEST(HostBlock, IsKeptForTheNextOfItsSize) {
  constexpr std::size_t kSize = 32ul << 20;
  auto block = host_block(kSize);
  const auto* const first = block.get();
  block.reset();
  if (!kKeepsBlocks) GTEST_SKIP() << "nothing is kept under this sanitizer";
  const std::size_t kept = kept_host_bytes();
  ASSERT_GE(kept, kSize);
  block = host_block(kSize - 100);
  EXPECT_EQ(block.get(), first);
  EXPECT_EQ(kept_host_bytes(), kept - kSize);
  EXPECT_NE(host_block(kSize).get(), first);
}

TEST(HostBlock, KeepsNoMoreThanItsLimit) {
  std::vector<std::shared_ptr<std::byte[]>> blocks;
  for (int i = 0; i < 5; ++i) blocks.push_back(host_block(200ul << 20));
  blocks.clear();
  EXPECT_LE(kept_host_bytes(), 512ul << 20);
}

TEST(HostBlock, GoesBackWhenItHasNotBeenUsedForAWhile) {
  (void)trim_host_blocks(0, {});
  for (int i = 0; i < 3; ++i) {
    const auto first = host_block(32ul << 20), second = host_block(64ul << 20);
    std::memset(first.get(), 1, 32ul << 20);
  }
  if (!kKeepsBlocks) GTEST_SKIP() << "nothing is kept under this sanitizer";
  EXPECT_EQ(trim_host_blocks(0, std::chrono::seconds{60}), 0u);
  EXPECT_EQ(trim_host_blocks(40ul << 20, {}), 64ul << 20);  // which came back first
  EXPECT_EQ(kept_host_bytes(), 32ul << 20);
  EXPECT_EQ(trim_host_blocks(0, {}), 32ul << 20);
}

TEST(HostBlock, IsNullWhenThereIsNoMemory) {
  EXPECT_EQ(host_block(std::numeric_limits<std::size_t>::max() - 5), nullptr);
  EXPECT_EQ(host_block(std::size_t{1} << 60), nullptr);
}

}  // namespace
}  // namespace burn
