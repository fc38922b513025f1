// How much memory a session's tensors may take, counted by their types: asked before anything is allocated.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "base/status.h"

namespace burn::session {

// Thread-safe. Outlives its shares.
class Budget {
 public:
  explicit Budget(std::uint64_t limit) : limit_(limit) {}

  // A part of the budget, given back at the end of its life.
  class Share {
   public:
    Share() = default;
    Share(Budget* budget, std::uint64_t bytes) : budget_(budget), bytes_(bytes) {}
    Share(Share&& other) noexcept : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Share() {
      if (budget_) budget_->in_use_ -= bytes_;
    }

   private:
    Budget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  Result<Share> take(std::uint64_t bytes) {
    auto in_use = in_use_.load();
    do {
      if (bytes > limit_ - in_use) {
        return resource_exhausted(
            fmt::format("{} bytes more than the {} in use exceed what a session may hold, {}", bytes, in_use, limit_));
      }
    } while (!in_use_.compare_exchange_weak(in_use, in_use + bytes));
    auto peak = peak_.load(std::memory_order_relaxed);
    while (peak < in_use + bytes && !peak_.compare_exchange_weak(peak, in_use + bytes)) {
    }
    return Share{this, bytes};
  }

  std::uint64_t in_use() const { return in_use_; }
  std::uint64_t peak() const { return peak_; }

 private:
  const std::uint64_t limit_;
  std::atomic<std::uint64_t> in_use_ = 0, peak_ = 0;
};

}  // namespace burn::session
