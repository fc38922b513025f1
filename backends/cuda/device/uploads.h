// Copies from the host to the device on a stream of their own, while the device computes.
//
// A freed block may still be in use by commands that were enqueued before: the computation's own stream is in order and
// needs no care, but a concurrent copy does. So uploads have memory of their own, whose blocks are marked with the
// number of their last use when they are freed, and events on the compute stream tell which uses are done. Blocks that
// the device is done with are filled again, oldest first; if there is none, more memory is taken, up to a bound: then
// the copy waits on the device. The copies are in order among themselves, so an upload that was never used needs no
// care.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>

#include "backends/cuda/device/device.h"
#include "backends/cuda/driver/events.h"

namespace burn::backends::cuda {

// Used by the stream's own thread.
class Uploads {
 public:
  static Result<std::unique_ptr<Uploads>> open(Device& device, std::shared_ptr<Events> events, CUstream compute);
  Uploads(const Uploads&) = delete;
  Uploads& operator=(const Uploads&) = delete;
  ~Uploads();  // Requires: all work on the compute stream is done.

  struct Copy {
    CudaBufferPtr buffer;
    Event done;
  };
  // `bytes` must stay unchanged until the copy is done. Errors: RESOURCE_EXHAUSTED; the driver's, after which the
  // device no longer reads the bytes.
  Result<Copy> copy(std::span<const std::byte> bytes);

  bool owns(const CudaBuffer& buffer) const { return buffer.memory() == memory_.get(); }
  // Must be called before commands that use uploads are enqueued on the compute stream: makes it wait for uploads up to
  // number `upload`.
  Status begin_use(std::uint64_t upload);

 private:
  struct Mark {
    std::uint64_t number;  // number of a use or of an upload
    Event event;
  };

  Uploads(Device& device, std::shared_ptr<Events> events, CUstream compute, CUstream copies);
  Status mark_uses();
  Status wait_for_use(std::uint64_t use);

  const std::shared_ptr<Events> events_;
  const CUstream compute_, copies_;
  const std::shared_ptr<std::atomic<std::uint64_t>> uses_;  // number of uses that have begun
  const std::shared_ptr<StreamMemory> memory_;
  std::deque<Mark> used_;                // on the compute stream: reached when all uses up to the number are done
  std::uint64_t marked_ = 0, done_ = 0;  // the last use that has a mark; the last use that is done
  std::deque<Mark> copied_;              // on the copy stream: uploads that the compute stream does not wait for yet
  std::uint64_t uploads_ = 0, awaited_ = 0;
};

}  // namespace burn::backends::cuda
