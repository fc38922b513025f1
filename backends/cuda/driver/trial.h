// Timing what is enqueued by the device's own clock, in memory of its own.
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <vector>

#include "backends/cuda/driver/driver.h"

namespace burn::backends::cuda {

// Of the current context, and of one thread.
class Trial {
 public:
  // Blocks of so many bytes, filled with numbers that are not zero, which multiply faster than others do.
  explicit Trial(std::span<const std::size_t> sizes);
  Trial(std::initializer_list<std::size_t> sizes) : Trial(std::span(sizes.begin(), sizes.size())) {}
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  ~Trial();

  // Errors: no memory to try anything in.
  const Status& status() const { return status_; }
  CUdeviceptr operator[](std::size_t block) const { return blocks_[block]; }
  std::span<const CUdeviceptr> blocks() const { return blocks_; }

  // What one of a row of such calls takes on the device. What is short is repeated as a graph, so that it is not the
  // host's time that is measured.
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
