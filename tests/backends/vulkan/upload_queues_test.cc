// Uploads on every queue that may copy them: one of their own, the only one, and in the order of the computation.
// Skipped where there is no device.
#include <array>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/backends/vulkan/upload_client.h"

namespace burn::backends::vulkan {
namespace {

enum class On : std::uint8_t { own_queue, only_queue, no_queue };

class VulkanUploadsOn : public VulkanUploads, public ::testing::WithParamInterface<On> {
 protected:
  void SetUp() override {
    VulkanUploads::SetUp();
    faults().has_copy_queue = GetParam() == On::own_queue;
  }
  std::shared_ptr<Backend> open() {
    return VulkanUploads::open(GetParam() == On::no_queue ? UploadOverlap::none : UploadOverlap::any_queue);
  }
};

// As training steps use a batch: uploaded, read, dropped at once.
TEST_P(VulkanUploadsOn, AreWhatTheyWereWhenRunsReadThem) {
  constexpr int kSteps = 120;
  constexpr std::size_t kAhead = 20;
  const auto backend = open();
  UploadClient large(backend), small(backend, kRows);
  std::deque<std::pair<BufferPtr, BufferPtr>> results;
  const auto look = [&](int step) {
    EXPECT_TRUE(large.is_of(results.front().first, step)) << step;
    EXPECT_TRUE(small.is_of(results.front().second, step)) << step;
    results.pop_front();
  };
  for (int step = 1; step <= kSteps; ++step) {
    results.emplace_back(*large.sum(*large.upload(step)), *small.sum(*small.upload(step)));
    if (results.size() > kAhead) look(step - static_cast<int>(kAhead));
  }
  EXPECT_EQ(faults().copies > 0, GetParam() == On::own_queue);
}

TEST_P(VulkanUploadsOn, OfSeveralStreamsKeepTheirOrder) {
  constexpr int kStreams = 3, kSteps = 60;
  const auto backend = open();
  std::array<int, kStreams> wrong{};
  {
    std::vector<std::jthread> threads;
    for (int s = 0; s < kStreams; ++s) {
      threads.emplace_back([&, s] {
        UploadClient client(backend, (s + 1) * (std::int64_t{1} << 17));
        BufferPtr before;
        for (int step = 1; step <= kSteps; ++step) {
          const auto batch = *client.upload(100 * s + step);
          auto sum = *client.sum(batch);
          if (before) wrong[static_cast<std::size_t>(s)] += client.is_of(before, 100 * s + step - 1) ? 0 : 1;
          before = std::move(sum);
        }
      });
    }
  }
  EXPECT_THAT(wrong, ::testing::Each(0));
}

std::string name_of(On queue) {
  static constexpr std::array kNames{"their_own_queue", "the_only_queue", "no_queue"};
  return kNames[static_cast<std::size_t>(queue)];
}

INSTANTIATE_TEST_SUITE_P(, VulkanUploadsOn, ::testing::Values(On::own_queue, On::only_queue, On::no_queue),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
}  // namespace burn::backends::vulkan
