// The limit on the memory of the router's process that waiting calls and programs of sessions on all workers use
// together.
#pragma once

#include <cstdint>
#include <mutex>

#include <fmt/format.h>

#include "serving/budget.h"

namespace burn::router {

class HostMemory final : public serving::HostAccount {
 public:
  // `limit`: bytes, for all sessions together.
  explicit HostMemory(std::uint64_t limit) : limit_(limit) {}

  Status take_host(std::uint64_t bytes) override {
    const std::lock_guard lock{mutex_};
    if (bytes > limit_ - taken_)
      return resource_exhausted(fmt::format(
          "{} bytes more than the {} of all sessions exceed what this router may take for calls and programs, {}",
          bytes, taken_, limit_));
    taken_ += bytes;
    return {};
  }
  void give_host(std::uint64_t bytes) override {
    const std::lock_guard lock{mutex_};
    taken_ -= bytes;
  }
  std::uint64_t taken() const {
    const std::lock_guard lock{mutex_};
    return taken_;
  }

 private:
  const std::uint64_t limit_;
  mutable std::mutex mutex_;
  std::uint64_t taken_ = 0;  // Guarded by `mutex_`.
};

}  // namespace burn::router
