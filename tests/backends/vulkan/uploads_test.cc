// Uploads beside what the device computes, on a queue of their own: the loader of these tests adds it to a driver's
// device, and is as late with what comes to it as what waits for that allows. Skipped where there is no device.
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/backends/vulkan/upload_client.h"

namespace burn::backends::vulkan {
namespace {

using ::testing::HasSubstr;

// Until it ends, for as long as nothing waits for what is held.
class Hold {
 public:
  explicit Hold(std::atomic<bool>& fault) : fault_(fault) { fault_ = true; }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  ~Hold() { end(); }

  void end() { fault_ = false; }

 private:
  std::atomic<bool>& fault_;
};

class VulkanUploadsBeside : public VulkanUploads {
 protected:
  void SetUp() override {
    VulkanUploads::SetUp();
    faults().has_copy_queue = true;
  }
};

// --- a queue of their own --------------------------------------------------------------------------------------------

TEST_F(VulkanUploadsBeside, ArriveBeforeTheRunThatReadsThemAndHoldUpNoRunBefore) {
  UploadClient client(open());
  const auto first = *client.upload(1);
  client.device().synchronize();
  const Hold hold(faults().holds_copies);
  const auto before = *client.sum(first);
  const auto late = *client.upload(2);
  EXPECT_TRUE(client.is_of(before, 1));  // while the copy is not done
  const auto beside = *client.sum(first);
  EXPECT_TRUE(client.is_of(beside, 1));
  EXPECT_TRUE(client.is_of(*client.sum(late), 2));
  EXPECT_EQ(faults().copies, 2);
}

TEST_F(VulkanUploadsBeside, ArriveBeforeTheyAreReadOrCloned) {
  UploadClient client(open());
  const Hold hold(faults().holds_copies);
  const auto clone = value_or_throw(client.device().stream().clone(*client.upload(3)));
  EXPECT_TRUE(client.is_of(*client.sum(clone), 3));
  float number = 0;
  const auto bytes = value_or_throw(client.device().download(*client.upload(4), sizeof number));
  std::memcpy(&number, bytes.data(), sizeof number);
  EXPECT_EQ(number, 4.0F);
}

// Copies are done at once where nothing is waited for, and runs as late as they may be. Of the larger ones two wait to
// be filled again, so that a copy waits for runs that the stream holds back.
TEST_F(VulkanUploadsBeside, DoNotOverwriteABlockThatAnEarlierRunReads) {
  constexpr int kSteps = 30;
  for (const auto count : {kLarge, 4 * kLarge}) {
    const auto backend = open();
    UploadClient client(backend, count);
    Hold hold(faults().holds_work);
    std::vector<BufferPtr> results;
    for (int step = 1; step <= kSteps; ++step) results.push_back(*client.sum(*client.upload(step)));
    // However far the host is ahead, what waits to be used again is bounded.
    EXPECT_LE(backend->memory().reserved, std::uint64_t{96} << 20);
    hold.end();
    for (int step = 1; step <= kSteps; ++step)
      EXPECT_TRUE(client.is_of(results[static_cast<std::size_t>(step - 1)], step)) << step;
  }
}

// A run that nothing else needs the upload of writes its result there.
TEST_F(VulkanUploadsBeside, DoNotOverwriteABlockThatAnEarlierRunWrites) {
  constexpr int kSteps = 24;
  UploadClient client(open());
  auto program = shifted_exp(kLarge);
  program.inputs[0].donated = true;
  const auto exp_and_one = value_or_throw(client.device().compile(program));
  Hold hold(faults().holds_work);
  std::vector<BufferPtr> results;
  for (int step = 0; step < kSteps; ++step) {
    RunArgs args;
    args.inputs.push_back(*client.upload(0));
    const auto* const uploaded = args.inputs[0].get();
    auto written = value_or_throw(client.device().run(exp_and_one, std::move(args))).outputs[0];
    EXPECT_EQ(written.get(), uploaded);
    results.push_back(*client.sum(std::move(written)));
  }
  hold.end();
  for (const auto& result : results) EXPECT_TRUE(client.is_of(result, 2));
}

TEST_F(VulkanUploadsBeside, OfRunsThatAreHeldBackAreWaitedForByEachOfThem) {
  constexpr int kSteps = 30;
  UploadClient client(open());
  client.device().synchronize();
  const Hold hold(faults().holds_copies);
  Hold under_way(faults().is_stuck);  // two batches for as long: others are held back
  std::vector<BufferPtr> results;
  for (int step = 1; step <= kSteps; ++step) results.push_back(*client.sum(*client.upload(step)));
  under_way.end();
  for (int step = 1; step <= kSteps; ++step)
    EXPECT_TRUE(client.is_of(results[static_cast<std::size_t>(step - 1)], step)) << step;
}

TEST_F(VulkanUploadsBeside, AreDoneWhenTheStreamSaysThatAllIs) {
  std::atomic<bool> is_done = false;
  UploadClient client(open());
  Hold hold(faults().holds_copies);
  const auto upload = *client.upload(1);
  client.device().stream().synchronize([&](const Status& status) {
    EXPECT_TRUE(status.ok());
    is_done = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(is_done);
  hold.end();
  client.device().synchronize();
  EXPECT_TRUE(is_done);
}

TEST_F(VulkanUploadsBeside, AreOfAnySizeButNone) {
  UploadClient client(open());
  const auto upload = [&](std::size_t count) {
    return value_or_throw(client.device().stream().upload(SharedBytes::own(std::vector<float>(count, 1.0F))));
  };
  const auto none = upload(0);
  EXPECT_EQ(faults().copies, 0);
  const auto one = upload(1);
  EXPECT_EQ(faults().copies, 1);
  const auto many = upload(65'536);
  EXPECT_EQ(faults().copies, 2);
}

TEST_F(VulkanUploadsBeside, GiveTheirMemoryBackWithTheirStream) {
  const auto backend = open();
  BufferPtr kept;
  {
    UploadClient client(backend);
    for (int step = 1; step <= 12; ++step) ASSERT_TRUE(client.sum(*client.upload(step)).ok());
    kept = *client.upload(13);
  }
  EXPECT_EQ(backend->memory().in_use, kLarge * sizeof(float));
  kept.reset();
  backend->trim(0, std::chrono::milliseconds(0));
  EXPECT_EQ(backend->memory().in_use, 0u);
  EXPECT_EQ(backend->memory().reserved, 0u);
}

// Its memory goes to other streams then.
TEST_F(VulkanUploadsBeside, AreDoneBeforeTheirMemoryGoesBack) {
  const auto backend = open();
  UploadClient client(backend);
  std::atomic<bool> is_back = false;
  std::jthread trims;
  const Hold hold(faults().holds_copies);
  (*client.upload(1)).reset();
  trims = std::jthread([&] {
    backend->trim(0, std::chrono::milliseconds(0));
    is_back = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(is_back);
}

// --- what fails ------------------------------------------------------------------------------------------------------

TEST_F(VulkanUploadsBeside, ThatTheDeviceDoesNotTakeLoseItForTheStream) {
  UploadClient client(open());
  const auto before = *client.upload(1);
  faults().submissions = 0;
  for (const auto& status : {client.upload(2).status(), client.sum(before).status(), client.upload(3).status()}) {
    EXPECT_EQ(status.code(), StatusCode::unavailable);
    EXPECT_THAT(status.message(), HasSubstr("lost"));
  }
  EXPECT_EQ(client.device().backend().health().code(), StatusCode::unavailable);
}

TEST_F(VulkanUploadsBeside, OfADeviceThatIsLostMeanwhileFailWhatReadsThem) {
  {
    UploadClient client(open());
    const Hold copies(faults().holds_copies), work(faults().holds_work);
    const auto result = *client.sum(*client.upload(2));
    faults().is_lost = true;
    EXPECT_EQ(client.device().download(result, sizeof(float)).status().code(), StatusCode::unavailable);
    EXPECT_EQ(client.upload(3).status().code(), StatusCode::unavailable);
  }
  faults().clear();
  faults().has_copy_queue = true;
  UploadClient again(open());
  EXPECT_TRUE(again.is_of(*again.sum(*again.upload(4)), 4));
}

TEST_F(VulkanUploadsBeside, WithoutMemoryForCommandsFailAndTheNextOneWorks) {
  UploadClient client(open());
  const auto before = *client.upload(1);
  faults().recordings = 0;
  EXPECT_EQ(client.upload(2).status().code(), StatusCode::resource_exhausted);
  faults().recordings = -1;
  EXPECT_TRUE(client.is_of(*client.sum(*client.upload(3)), 3));
  EXPECT_TRUE(client.is_of(*client.sum(before), 1));
}

}  // namespace
}  // namespace burn::backends::vulkan
