#include "backends/vulkan/device/pages.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>

#include <fmt/format.h>

namespace burn::backends::vulkan {
namespace {

constexpr std::uint64_t kAlignment = 256;

std::optional<Piece> take_from(Page& page, std::uint64_t bytes) {
  const auto found = std::ranges::find_if(page.free, [&](const auto& range) { return range.second >= bytes; });
  if (found == page.free.end()) return std::nullopt;
  const auto [offset, available] = *found;
  page.free.erase(found);
  if (available > bytes) page.free.emplace(offset + bytes, available - bytes);
  return Piece{&page, offset, bytes};
}

// `families`: as in Pages::Kind; they must outlive the result.
VkBufferCreateInfo buffer_of(std::uint64_t bytes, std::span<const std::uint32_t> families) {
  VkBufferCreateInfo info{.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                          .size = bytes,
                          .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                   VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
  if (families.size() > 1) {
    info.sharingMode = VK_SHARING_MODE_CONCURRENT;
    info.queueFamilyIndexCount = static_cast<std::uint32_t>(families.size());
    info.pQueueFamilyIndices = families.data();
  }
  return info;
}

bool is_unused(const Page& page) { return page.free.size() == 1 && page.free.begin()->second == page.bytes; }

}  // namespace

Result<std::uint32_t> buffer_memory_types(VkDevice device, const DeviceFunctions& vk) {
  const auto info = buffer_of(kAlignment, {});
  VkBuffer buffer = VK_NULL_HANDLE;
  BURN_RETURN_IF_ERROR(check(vk.CreateBuffer(device, &info, nullptr, &buffer), "making a buffer"));
  VkMemoryRequirements needs{};
  vk.GetBufferMemoryRequirements(device, buffer, &needs);
  vk.DestroyBuffer(device, buffer, nullptr);
  return needs.memoryTypeBits;
}

Pages::~Pages() {
  for (const auto& page : pages_) free_page(*page);
}

Result<Piece> Pages::take(std::uint64_t bytes) {
  if (bytes > kind_.max_bytes)
    return resource_exhausted(
        fmt::format("out of memory: {} bytes are wanted at once, {} are the most that the device "
                    "allocates",
                    bytes, kind_.max_bytes));
  bytes = (std::max<std::uint64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  const std::lock_guard lock(mutex_);
  for (const auto& page : pages_) {
    if (auto piece = take_from(*page, bytes)) return *piece;
  }
  // An allocation larger than half a page gets a page of its own, which is freed with it; so does any allocation if
  // there is no memory for a whole page.
  auto page = add_page(bytes > kind_.page_bytes / 2 ? bytes : kind_.page_bytes);
  if (page.status().code() == StatusCode::resource_exhausted && bytes <= kind_.page_bytes / 2) page = add_page(bytes);
  if (!page.ok()) return page.status();
  const auto piece = take_from(**page, bytes);
  if (!piece) return resource_exhausted(fmt::format("a new page has no room for {} bytes", bytes));
  return *piece;
}

void Pages::give_back(const Piece& piece) {
  const std::lock_guard lock(mutex_);
  auto& page = *piece.page;
  auto [here, is_new] = page.free.emplace(piece.offset, piece.bytes);
  if (const auto next = std::next(here); next != page.free.end() && here->first + here->second == next->first) {
    here->second += next->second;
    page.free.erase(next);
  }
  if (here != page.free.begin()) {
    if (const auto before = std::prev(here); before->first + before->second == here->first) {
      before->second += here->second;
      page.free.erase(here);
    }
  }
  if (page.bytes == kind_.page_bytes || !is_unused(page)) return;
  const auto found = std::ranges::find(pages_, &page, &std::unique_ptr<Page>::get);
  free_page(page);
  pages_.erase(found);
}

void Pages::trim() {
  const std::lock_guard lock(mutex_);
  std::erase_if(pages_, [&](const auto& page) {
    if (!is_unused(*page)) return false;
    free_page(*page);
    return true;
  });
}

std::uint64_t Pages::page_bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

Result<Page*> Pages::add_page(std::uint64_t bytes) {
  if (bytes > kind_.limit_bytes || bytes_ > kind_.limit_bytes - bytes)
    return resource_exhausted(
        fmt::format("out of memory: {} bytes of {} are wanted, {} are allocated by now, {} are the most (the device's, "
                    "or BURN_DEVICE_MEMORY)",
                    bytes, kind_.name, bytes_, kind_.limit_bytes));
  auto page = std::make_unique<Page>();
  const auto buffer = buffer_of(bytes, kind_.families);
  BURN_RETURN_IF_ERROR(check(vk_.CreateBuffer(device_, &buffer, nullptr, &page->buffer), "making a buffer"));
  VkMemoryRequirements needs{};
  vk_.GetBufferMemoryRequirements(device_, page->buffer, &needs);
  const VkMemoryAllocateFlagsInfo flags{.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
  const VkMemoryAllocateInfo memory{.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                    .pNext = &flags,
                                    .allocationSize = needs.size,
                                    .memoryTypeIndex = kind_.type};
  auto result = vk_.AllocateMemory(device_, &memory, nullptr, &page->memory);
  if (result == VK_SUCCESS) result = vk_.BindBufferMemory(device_, page->buffer, page->memory, 0);
  void* mapped = nullptr;
  if (result == VK_SUCCESS && kind_.is_mapped) {
    result = vk_.MapMemory(device_, page->memory, 0, VK_WHOLE_SIZE, 0, &mapped);
    page->mapped = static_cast<std::byte*>(mapped);
  }
  if (result != VK_SUCCESS) {
    vk_.DestroyBuffer(device_, page->buffer, nullptr);
    vk_.FreeMemory(device_, page->memory, nullptr);
    if (result == VK_ERROR_DEVICE_LOST) return check(result, "allocating memory");
    return resource_exhausted(fmt::format("out of memory: {} bytes of {} are wanted, {} are allocated by now: {}",
                                          bytes, kind_.name, bytes_, name_of(result)));
  }
  const VkBufferDeviceAddressInfo of{.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = page->buffer};
  page->address = vk_.GetBufferDeviceAddress(device_, &of);
  page->bytes = bytes;
  page->free.emplace(0, bytes);
  bytes_ += bytes;
  pages_.push_back(std::move(page));
  return pages_.back().get();
}

void Pages::free_page(Page& page) {
  vk_.DestroyBuffer(device_, page.buffer, nullptr);
  vk_.FreeMemory(device_, page.memory, nullptr);
  bytes_ -= page.bytes;
}

}  // namespace burn::backends::vulkan
