// Device memory: buffers of a stream, from blocks that are kept for reuse.
//
// Work on a stream is in order, so a freed block can be reused at once: commands that still read it were enqueued
// before. Blocks move between streams only through the driver, which waits for the device. Buffers that are filled by a
// concurrent stream of copies have a memory of their own, with numbered uses (uploads.h).
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/backend.h"
#include "backends/cuda/driver/driver.h"
#include "backends/gpu/device_buffer.h"

namespace burn::backends::cuda {

class StreamMemory;

// The use of the device's memory by all streams, in bytes.
struct MemoryAccount {
  std::atomic<std::uint64_t> in_use = 0, reserved = 0, peak = 0;

  void take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes) { in_use.fetch_sub(bytes, std::memory_order_relaxed); }
};

// The memory of all streams, so that a stream that needs memory can free unused blocks of the others.
class DeviceMemory : public std::enable_shared_from_this<DeviceMemory> {
 public:
  // `limit`: bytes of the blocks of all streams together.
  DeviceMemory(CUcontext context, std::uint64_t limit) : context_(context), limit_(limit) {}

  MemoryAccount& account() { return account_; }
  CUcontext context() const { return context_; }
  std::uint64_t limit() const { return limit_; }
  // `uses`: the number of the last use that has begun, if blocks must remember their last use; else null.
  std::shared_ptr<StreamMemory> open_stream(std::shared_ptr<const std::atomic<std::uint64_t>> uses = nullptr);
  // As Backend::trim().
  std::uint64_t trim(std::uint64_t keep, std::chrono::milliseconds unused_for);

 private:
  std::vector<std::shared_ptr<StreamMemory>> streams();

  const CUcontext context_;
  const std::uint64_t limit_;
  MemoryAccount account_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<StreamMemory>> streams_;
};

class CudaBuffer final : public DeviceBuffer {
 public:
  CudaBuffer(std::shared_ptr<StreamMemory> memory, CUdeviceptr address, std::size_t size)
      : memory_(std::move(memory)), address_(address), size_(size) {}
  ~CudaBuffer() override;

  CUdeviceptr address() const { return address_; }
  std::size_t size() const override { return size_; }
  const StreamMemory* memory() const { return memory_.get(); }

  // The number of the copy that fills the buffer (uploads.h); 0: it is not filled by an upload.
  std::uint64_t upload = 0;

 private:
  const std::shared_ptr<StreamMemory> memory_;
  const CUdeviceptr address_;
  const std::size_t size_;
};
using CudaBufferPtr = std::shared_ptr<CudaBuffer>;

// Requires: the buffer belongs to this backend.
inline CudaBuffer& cuda(const BufferPtr& buffer) { return static_cast<CudaBuffer&>(*buffer); }

// Thread-safe. Lives as long as its last buffer.
class StreamMemory : public std::enable_shared_from_this<StreamMemory> {
 public:
  StreamMemory(std::shared_ptr<DeviceMemory> device, std::shared_ptr<const std::atomic<std::uint64_t>> uses)
      : device_(std::move(device)), uses_(std::move(uses)) {}
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;
  ~StreamMemory();

  // Undefined contents. Errors: RESOURCE_EXHAUSTED with the numbers.
  Result<CudaBufferPtr> allocate(std::size_t bytes);
  // Allocates from the block that was freed first, if its last use is done or if the free blocks of that size are at
  // least two and have `most_busy_bytes` or more; otherwise from a new block. `done`: the last use that is done.
  struct BufferAndLastUse {
    CudaBufferPtr buffer;
    std::uint64_t last_use = 0;  // of the block, before it was freed
  };
  Result<BufferAndLastUse> allocate_oldest(std::size_t bytes, std::uint64_t done, std::size_t most_busy_bytes);
  // Makes all free blocks, and from now on each freed block, return to the driver. Requires: all work on the stream is
  // done.
  void close();
  // Returns blocks that have been free for at least `unused_for` to the driver. Returns their bytes.
  std::uint64_t trim(std::chrono::milliseconds unused_for);

 private:
  friend class CudaBuffer;
  struct Idle {
    CUdeviceptr block;
    std::chrono::steady_clock::time_point since;
    std::uint64_t last_use;
  };

  CudaBufferPtr buffer(CUdeviceptr block, std::size_t bytes);
  Result<CUdeviceptr> take(std::size_t bytes);
  Result<CUdeviceptr> take_new(std::size_t bytes);
  void give_back(CUdeviceptr block, std::size_t block_size);
  void release(CUdeviceptr block, std::size_t block_size);  // to the driver

  const std::shared_ptr<DeviceMemory> device_;
  const std::shared_ptr<const std::atomic<std::uint64_t>> uses_;  // null: blocks do not remember uses
  std::mutex mutex_;
  std::map<std::size_t, std::deque<Idle>> idle_;  // by size, in the order in which they were freed
  bool is_closed_ = false;
};

}  // namespace burn::backends::cuda
