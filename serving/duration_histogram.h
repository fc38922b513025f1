// A histogram of durations, for metrics.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace burn::serving {

// The counts of a DurationHistogram. Its ranges are those of kBounds, and one above them without an upper end.
struct DurationCounts {
  // Upper ends of the ranges, inclusive: 1 and 3 of each power of ten from 10 us to 100 s.
  static constexpr std::array<std::chrono::nanoseconds, 15> kBounds{
      std::chrono::microseconds{10},  std::chrono::microseconds{30}, std::chrono::microseconds{100},
      std::chrono::microseconds{300}, std::chrono::milliseconds{1},  std::chrono::milliseconds{3},
      std::chrono::milliseconds{10},  std::chrono::milliseconds{30}, std::chrono::milliseconds{100},
      std::chrono::milliseconds{300}, std::chrono::seconds{1},       std::chrono::seconds{3},
      std::chrono::seconds{10},       std::chrono::seconds{30},      std::chrono::seconds{100}};

  std::array<std::uint64_t, kBounds.size() + 1> counts{};  // of each range, not cumulative
  std::chrono::nanoseconds sum{0};
};

// Thread-safe. Counting takes two atomic additions.
class DurationHistogram {
 public:
  void add(std::chrono::nanoseconds time) {
    std::size_t range = 0;
    while (range < DurationCounts::kBounds.size() && time > DurationCounts::kBounds[range]) ++range;
    counts_[range].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(time.count(), std::memory_order_relaxed);
  }
  // While other threads call add(), `sum` may include a duration more or less than `counts`.
  DurationCounts counts() const {
    DurationCounts all;
    for (std::size_t k = 0; k < counts_.size(); ++k) all.counts[k] = counts_[k].load(std::memory_order_relaxed);
    all.sum = std::chrono::nanoseconds{sum_.load(std::memory_order_relaxed)};
    return all;
  }

 private:
  std::array<std::atomic<std::uint64_t>, DurationCounts::kBounds.size() + 1> counts_{};
  std::atomic<std::chrono::nanoseconds::rep> sum_ = 0;
};

}  // namespace burn::serving
