// Device memory of a stream, in blocks of a few sizes that it keeps for the next time.
//
// Work on a stream is in order, so a block that came back may be given away again at once: what still reads it was
// enqueued before. A block goes to other streams only after the device has done what this one had enqueued. What copies
// fill beside the computation is memory of its own (uploads.h).
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

// What the buffers of all streams of a device take.
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

  // The number of the copy that fills it, of a stream's uploads (uploads.h); 0: none does.
  std::uint64_t upload = 0;

 private:
  const std::shared_ptr<StreamMemory> memory_;
  const Piece piece_;
  const std::size_t size_;
};
using VulkanBufferPtr = std::shared_ptr<VulkanBuffer>;

// Requires: it is one of this backend.
inline VulkanBuffer& vulkan(const BufferPtr& buffer) { return static_cast<VulkanBuffer&>(*buffer); }

// The memory of all streams of a device.
class DeviceMemory {
 public:
  // `copies`: what fills its blocks beside the computation; null: nothing does.
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
  // The same in the block that came back first, where the computation is done with it or where blocks of the size that
  // are not make more than so many bytes, and are two at least; else in a new one.
  struct Taken {
    VulkanBufferPtr buffer;
    std::uint64_t last_use = 0;  // of the timeline: until then the device may be at the block; 0: it is not
  };
  Result<Taken> allocate_oldest(std::size_t bytes, std::size_t most_busy_bytes);
  // From now on blocks that come back go to the device's pages.
  void close();
  // Gives blocks that have not been used for so long back to the device's pages. How many bytes those were.
  std::uint64_t trim(std::chrono::milliseconds unused_for);

 private:
  friend class VulkanBuffer;
  struct Idle {
    Piece piece;
    std::chrono::steady_clock::time_point since;
    std::uint64_t last_use;  // as Taken has it
  };

  // What blocks for so many bytes have. Errors: no device has so many.
  Result<std::size_t> block_bytes(std::size_t bytes) const;
  VulkanBufferPtr buffer(const Piece& piece, std::size_t bytes);
  Result<Piece> take(std::size_t block_size);
  Result<Piece> take_new(std::size_t block_size);
  void give_back(const Piece& piece);

  // Waits until the device uses no block that came back.
  void wait_for_uses();

  const std::shared_ptr<Timeline> timeline_, copies_;
  std::mutex mutex_;
  std::map<std::size_t, std::deque<Idle>> idle_;  // by size, in the order in which they came back
  bool is_closed_ = false;
};

}  // namespace burn::backends::vulkan
