// Suballocates memory from pages, each of which is a buffer with an address: drivers allow few allocations, and each
// takes long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/vulkan/driver/vulkan.h"

namespace burn::backends::vulkan {

struct Page {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkDeviceAddress address = 0;
  std::byte* mapped = nullptr;  // null: not accessible by the host
  std::uint64_t bytes = 0;
  std::map<std::uint64_t, std::uint64_t> free;  // free ranges, size by offset; adjacent ranges are merged
};

// A part of a page; empty if the page is null.
struct Piece {
  Page* page = nullptr;
  std::uint64_t offset = 0, bytes = 0;

  VkDeviceAddress address() const { return page ? page->address + offset : 0; }
  std::byte* mapped() const { return page && page->mapped ? page->mapped + offset : nullptr; }
};

// The memory types, a bit each, that buffers can be allocated from.
Result<std::uint32_t> buffer_memory_types(VkDevice device, const DeviceFunctions& vk);

// Thread-safe. The device must outlive it.
class Pages {
 public:
  struct Kind {
    std::uint32_t type = 0;  // Vulkan's index of the memory type
    bool is_mapped = false;
    std::uint64_t page_bytes = 0;
    std::uint64_t max_bytes = 0;    // of an allocation
    std::uint64_t limit_bytes = 0;  // of all pages together
    const char* name = "";          // "device memory"
    // The queue families that use the memory concurrently; with less than two, one queue uses it exclusively.
    std::vector<std::uint32_t> families = {};
  };
  Pages(VkDevice device, const DeviceFunctions& vk, const Kind& kind) : device_(device), vk_(vk), kind_(kind) {}
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages();

  // Undefined contents, aligned to 256 bytes. Errors: RESOURCE_EXHAUSTED with the numbers.
  Result<Piece> take(std::uint64_t bytes);
  // Requires: the device does not use it any more.
  void give_back(const Piece& piece);
  // Frees pages without allocated pieces.
  void trim();
  std::uint64_t page_bytes() const;  // total bytes of all pages

 private:
  Result<Page*> add_page(std::uint64_t bytes);
  void free_page(Page& page);

  const VkDevice device_;
  const DeviceFunctions& vk_;
  const Kind kind_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Page>> pages_;
  std::uint64_t bytes_ = 0;
};

}  // namespace burn::backends::vulkan
