// Device memory of a stream, in blocks of a few sizes that are kept for reuse.
//
// Work on a stream is in order, so a freed block can be reused at once: commands that still read it were enqueued
// before. Other streams get a block only after the device has done what this stream had enqueued. Buffers that are
// filled by concurrent copies have a memory of their own (uploads.h).
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/gpu/device_buffer.h"
#include "backends/vulkan/device/timeline.h"

namespace burn::backends::vulkan {

class StreamMemory;

// The bytes that the buffers of all streams of a device use.
struct MemoryAccount {
  std::atomic<std::uint64_t> in_use = 0, peak = 0;

  void take(std::uint64_t bytes);
};

class VulkanBuffer final : public DeviceBuffer {
 public:
  VulkanBuffer(std::shared_ptr<StreamMemory> memory, const Piece& piece, std::size_t size)
      : memory_(std::move(memory)), piece_(piece), size_(size) {}
  ~VulkanBuffer() override;

  const Piece& piece() const { return piece_; }
  VkDeviceAddress address() const { return piece_.address(); }
  std::size_t size() const override { return size_; }
  const StreamMemory* memory() const { return memory_.get(); }

  // The number of the copy, among the stream's uploads, that fills the buffer (uploads.h); 0: it is not filled by an
  // upload.
  std::uint64_t upload = 0;

 private:
  const std::shared_ptr<StreamMemory> memory_;
  const Piece piece_;
  const std::size_t size_;
};
using VulkanBufferPtr = std::shared_ptr<VulkanBuffer>;

// Requires: the buffer belongs to this backend.
inline VulkanBuffer& vulkan(const BufferPtr& buffer) { return static_cast<VulkanBuffer&>(*buffer); }

// The memory of all streams of a device.
class DeviceMemory {
 public:
  // `copies`: the timeline of the copies that fill its blocks while the device computes; null: there are none.
  std::shared_ptr<StreamMemory> open_stream(std::shared_ptr<Timeline> timeline,
                                            std::shared_ptr<Timeline> copies = nullptr);
  // As Backend::trim().
  std::uint64_t trim(Pages& pages, std::uint64_t keep, std::chrono::milliseconds unused_for);
  MemoryAccount& account() { return account_; }

 private:
  std::vector<std::shared_ptr<StreamMemory>> streams();

  MemoryAccount account_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<StreamMemory>> streams_;
};

// Thread-safe. Lives as long as its last buffer.
class StreamMemory : public std::enable_shared_from_this<StreamMemory> {
 public:
  StreamMemory(std::shared_ptr<Timeline> timeline, std::shared_ptr<Timeline> copies)
      : timeline_(std::move(timeline)), copies_(std::move(copies)) {}
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;
  ~StreamMemory() { close(); }

  // Undefined contents. Errors: RESOURCE_EXHAUSTED with the numbers.
  Result<VulkanBufferPtr> allocate(std::size_t bytes);
  // Allocates from the block that was freed first, if the computation is done with it or if the free blocks of that
  // size exceed `most_busy_bytes` and are at least two; otherwise from a new block.
  struct BufferAndLastUse {
    VulkanBufferPtr buffer;
    std::uint64_t last_use = 0;  // on the timeline: the device may use the block until then; 0: it does not use it
  };
  Result<BufferAndLastUse> allocate_oldest(std::size_t bytes, std::size_t most_busy_bytes);
  // Makes all free blocks, and from now on each freed block, return to the device's pages.
  void close();
  // Returns blocks that have been free for at least `unused_for` to the device's pages. Returns their bytes.
  std::uint64_t trim(std::chrono::milliseconds unused_for);

 private:
  friend class VulkanBuffer;
  struct Idle {
    Piece piece;
    std::chrono::steady_clock::time_point since;
    std::uint64_t last_use;  // as in BufferAndLastUse
  };

  // The size of a block for `bytes` bytes. Errors: RESOURCE_EXHAUSTED if no device has so many.
  Result<std::size_t> block_bytes(std::size_t bytes) const;
  VulkanBufferPtr buffer(const Piece& piece, std::size_t bytes);
  Result<Piece> take(std::size_t block_size);
  Result<Piece> take_new(std::size_t block_size);
  void give_back(const Piece& piece);

  // Waits until the device no longer uses any freed block.
  void wait_for_uses();

  const std::shared_ptr<Timeline> timeline_, copies_;
  std::mutex mutex_;
  std::map<std::size_t, std::deque<Idle>> idle_;  // by size, in the order in which they were freed
  bool is_closed_ = false;
};

}  // namespace burn::backends::vulkan
