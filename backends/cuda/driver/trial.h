// Times enqueued work with the device's own clock, in memory of its own.
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <vector>

#include "backends/cuda/driver/driver.h"

namespace burn::backends::cuda {

// Belongs to the current context; used by one thread.
class Trial {
 public:
  // Allocates blocks of these sizes, filled with nonzero numbers, as zeros multiply faster.
  explicit Trial(std::span<const std::size_t> sizes);
  Trial(std::initializer_list<std::size_t> sizes) : Trial(std::span(sizes.begin(), sizes.size())) {}
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  ~Trial();

  // Errors: RESOURCE_EXHAUSTED if there is no memory for the blocks.
  const Status& status() const { return status_; }
  CUdeviceptr operator[](std::size_t block) const { return blocks_[block]; }
  std::span<const CUdeviceptr> blocks() const { return blocks_; }

  // The mean time of one call of `enqueue` in a sequence of calls. Short ones are repeated in a graph, so that the
  // host's time is not measured.
  Result<double> seconds(const std::function<Status(CUstream)>& enqueue) const;

 private:
  Status start(std::span<const std::size_t> sizes);
  Result<double> elapsed(const std::function<Status()>& enqueue) const;

  std::vector<CUdeviceptr> blocks_;
  CUstream stream_ = nullptr;
  CUevent begin_ = nullptr, end_ = nullptr;
  Status status_;
};

}  // namespace burn::backends::cuda
