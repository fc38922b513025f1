// Uploads beside the computation, on a driver without a GPU that does everything as late, as early and as much out of
// order as events allow (simulated_driver/). A clone stands for what computes: it reads a buffer on the compute stream.
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <random>

#include <gtest/gtest.h>

#include "backends/cuda/runtime/cuda_backend.h"
#include "base/error.h"
#include "base/settings.h"
#include "tests/backends/cuda/simulated_driver/simulation.h"

namespace burn::testing {
namespace {

using backends::BufferPtr;

std::vector<std::uint32_t> pattern(std::size_t bytes, std::uint32_t seed) {
  std::vector<std::uint32_t> words(bytes / sizeof(std::uint32_t));
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = seed * 2654435761U + static_cast<std::uint32_t>(i);
  return words;
}

class Uploads : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    ::setenv("BURN_COPY_STREAM", GetParam(), 1);  // NOLINT(concurrency-mt-unsafe): no other thread reads it now
    ::setenv("BURN_AUTOTUNE", "off", 1);          // NOLINT(concurrency-mt-unsafe): no other thread reads it now
    backend_ = value_or_throw(backends::cuda::open_cuda_backend(0));
    stream_ = value_or_throw(backend_->open_stream([](std::uint64_t, const backends::Failure&) {}));
  }
  void TearDown() override {
    hold(false);  // or what failed under it would wait for ever
    stream_.reset();
    ::unsetenv("BURN_COPY_STREAM");  // NOLINT(concurrency-mt-unsafe): no other thread reads it now
  }

  // The device does nothing that nobody waits for.
  static void hold(bool is_held) { simulated<void(bool)>("burn_hold_simulation")(is_held); }
  static std::size_t streams() { return simulated<std::size_t()>("burn_simulated_streams")(); }

  Result<BufferPtr> upload(std::size_t bytes, std::uint32_t seed) {
    if (seed % 2 == 0) return stream_->upload(SharedBytes::own(pattern(bytes, seed)));
    auto block = value_or_throw(backend_->host_block(bytes));
    const auto words = pattern(bytes, seed);
    std::ranges::copy(std::as_bytes(std::span(words)), block->bytes().begin());
    return stream_->upload(std::move(block));
  }
  // Counts those that are not what was uploaded, once the device has come so far.
  void look_at(const BufferPtr& buffer, std::uint32_t seed) {
    ++asked_;
    stream_->download(buffer, buffer->size(), [this, seed](const SharedBytes& bytes, const backends::Failure& failure) {
      const auto expected = pattern(bytes.size(), seed);
      const std::lock_guard lock(mutex_);
      ++seen_;
      if (failure || !std::ranges::equal(bytes.span(), std::as_bytes(std::span(expected)))) wrong_.push_back(seed);
    });
  }
  void synchronize() {
    const auto done = std::make_shared<std::promise<void>>();
    stream_->synchronize([done](const Status& status) {
      EXPECT_TRUE(status.ok()) << status.to_string();
      done->set_value();
    });
    done->get_future().wait();
  }
  void expect_right() {
    synchronize();
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(seen_, asked_);
    EXPECT_TRUE(wrong_.empty()) << wrong_.size() << " of " << asked_ << ", the first is number " << wrong_.front();
  }

  std::unique_ptr<backends::Backend> backend_;
  std::unique_ptr<backends::Stream> stream_;
  std::mutex mutex_;
  int asked_ = 0, seen_ = 0;
  std::vector<std::uint32_t> wrong_;
};

// As training steps use a batch: uploaded, read by what computes, dropped at once.
TEST_P(Uploads, ABatchIsWhatItWasWhenTheComputationReadsIt) {
  for (std::uint32_t step = 1; step <= 3000; ++step) {
    const auto batch = *upload(20'000, step), labels = *upload(512, step + 100'000);
    look_at(value_or_throw(stream_->clone(batch)), step);
    look_at(value_or_throw(stream_->clone(labels)), step + 100'000);
    if (step % 10 == 0) synchronize();
  }
  expect_right();
}

TEST_P(Uploads, OfAnySizeKeptDroppedAndUsedAnyNumberOfTimes) {
  std::mt19937 random(7);
  std::deque<std::pair<BufferPtr, std::uint32_t>> kept;
  constexpr std::size_t kSizes[] = {0, 4, 512, 516, 4096, 20'000, 65'536, 1'000'000};
  for (std::uint32_t number = 1; number <= 2000; ++number) {
    const auto buffer = *upload(kSizes[random() % std::size(kSizes)], number);
    switch (random() % 5) {
      case 0:  // nobody uses it
        break;
      case 1:
        look_at(buffer, number);
        break;
      case 2:
        look_at(value_or_throw(stream_->clone(value_or_throw(stream_->clone(buffer)))), number);
        break;
      default:
        kept.emplace_back(buffer, number);
    }
    while (kept.size() > random() % 12) {  // used later, and in another order
      const auto at = static_cast<std::ptrdiff_t>(random() % kept.size());
      if (random() % 2 == 0)
        look_at(value_or_throw(stream_->clone(kept[static_cast<std::size_t>(at)].first)),
                kept[static_cast<std::size_t>(at)].second);
      kept.erase(kept.begin() + at);
    }
  }
  expect_right();
}

// However far the host is ahead, the memory that waits to be used again is bounded.
TEST_P(Uploads, TakeNoMoreMemoryTheFurtherTheHostIsAhead) {
  constexpr std::size_t kBytes = 1 << 20;
  constexpr std::uint32_t kSteps = 100;
  hold(true);
  for (std::uint32_t step = 1; step <= kSteps; ++step) {
    const auto batch = *upload(kBytes, step);
    look_at(value_or_throw(stream_->clone(batch)), step);
  }
  EXPECT_LE(backend_->memory().reserved, (std::uint64_t{32} << 20) + (kSteps + 4) * kBytes);
  hold(false);
  expect_right();
}

// The simulated device has 256 MiB.
TEST_P(Uploads, BeyondTheDevicesMemoryFailAndTheStreamGoesOn) {
  std::vector<BufferPtr> all;
  Status status;
  for (std::uint32_t number = 1; number <= 20 && status.ok(); ++number) {
    auto buffer = upload(24 << 20, number);
    status = buffer.status();
    if (buffer.ok()) all.push_back(*std::move(buffer));
  }
  EXPECT_EQ(status.code(), StatusCode::resource_exhausted);
  EXPECT_EQ(all.size(), 10u);
  look_at(all.back(), 10);
  all.clear();
  const auto after = upload(72 << 20, 30);  // of another size: what is idle goes back first
  ASSERT_TRUE(after.ok()) << after.status().to_string();
  look_at(*after, 30);
  expect_right();
}

TEST_P(Uploads, OutliveTheirStream) {
  auto buffer = *upload(1000, 1);
  const auto other = value_or_throw(backend_->open_stream([](std::uint64_t, const backends::Failure&) {}));
  stream_.reset();
  buffer.reset();
  EXPECT_EQ(backend_->memory().in_use, 0u);
  EXPECT_EQ(backend_->memory().reserved, 0u);
}

TEST_P(Uploads, LeaveNoStreamsBehind) {
  const auto before = streams();
  for (std::uint32_t k = 0; k < 10; ++k) {
    stream_ = value_or_throw(backend_->open_stream([](std::uint64_t, const backends::Failure&) {}));
    look_at(value_or_throw(stream_->clone(*upload(1000, k))), k);
    expect_right();
  }
  EXPECT_EQ(streams(), before);
  stream_.reset();
  EXPECT_EQ(streams(), 0u);
}

INSTANTIATE_TEST_SUITE_P(, Uploads, ::testing::Values("on", "off"),
                         [](const auto& info) { return std::string(info.param) == "on" ? "beside" : "in_order"; });

}  // namespace
}  // namespace burn::testing
