// Copies from the host on a stream of their own, beside what the device computes.
//
// Memory that comes back may still be in use by what was enqueued before: the computation's own stream need not mind,
// as it works in order, but a copy beside it has to. So what is uploaded lies in memory of its own, which is marked
// with the number of the last use when it comes back, and events in the computation say how far the uses are. What is
// done is filled again, oldest first; where nothing is, more memory is taken, up to a bound: then the copy waits on the
// device. Copies themselves are in order, so an upload that nobody used needs no care.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>

#include "backends/cuda/device/device.h"
#include "backends/cuda/driver/events.h"

namespace burn::backends::cuda {

// Of the stream's own thread.
class Uploads {
 public:
  static Result<std::unique_ptr<Uploads>> open(Device& device, std::shared_ptr<Events> events, CUstream compute);
  Uploads(const Uploads&) = delete;
  Uploads& operator=(const Uploads&) = delete;
  ~Uploads();  // Requires: nothing on the compute stream is left to be done.

  struct Copy {
    CudaBufferPtr buffer;
    Event done;
  };
  // `bytes` stay as they are until the copy is done. Errors: RESOURCE_EXHAUSTED; of the driver, after which nothing
  // reads them any more.
  Result<Copy> copy(std::span<const std::byte> bytes);

  bool owns(const CudaBuffer& buffer) const { return buffer.memory() == memory_.get(); }
  // Before anything is enqueued on the compute stream that uses uploads: those up to number `upload`.
  Status begin_use(std::uint64_t upload);

 private:
  struct Mark {
    std::uint64_t number;  // of a use or an upload
    Event event;
  };

  Uploads(Device& device, std::shared_ptr<Events> events, CUstream compute, CUstream copies);
  Status mark_uses();
  Status wait_for_use(std::uint64_t use);

  const std::shared_ptr<Events> events_;
  const CUstream compute_, copies_;
  const std::shared_ptr<std::atomic<std::uint64_t>> uses_;  // begun
  const std::shared_ptr<StreamMemory> memory_;
  std::deque<Mark> used_;                // in the compute stream: all uses up to a number
  std::uint64_t marked_ = 0, done_ = 0;  // uses that a mark covers; that are over
  std::deque<Mark> copied_;              // in the copies' stream, of what the compute stream does not wait for yet
  std::uint64_t uploads_ = 0, awaited_ = 0;
};

}  // namespace burn::backends::cuda
