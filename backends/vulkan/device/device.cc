#include "backends/vulkan/device/device.h"

#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "backends/autotune.h"
#include "backends/vulkan/device/memory.h"
#include "backends/vulkan/device/pipelines.h"
#include "backends/vulkan/driver/tiles.h"
#include "base/settings.h"
#include "compile/codegen/group_memo.h"

namespace burn::backends::vulkan {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kMaxWrittenBytes = 64 * kMiB;
constexpr std::uint64_t kAllocationUnit = 256;  // bytes; DeviceFacts::max_allocation is a multiple of it

// The first of the marked memory types that has all properties of `with` and none of `without`.
std::optional<std::uint32_t> find_type(const VkPhysicalDeviceMemoryProperties& memory, std::uint32_t marked,
                                       VkMemoryPropertyFlags with, VkMemoryPropertyFlags without = 0) {
  for (std::uint32_t type = 0; type < memory.memoryTypeCount; ++type) {
    const auto flags = memory.memoryTypes[type].propertyFlags;
    if ((marked >> type & 1) == 0) continue;
    if ((flags & with) == with && (flags & without) == 0) return type;
  }
  return std::nullopt;
}

}  // namespace

Device::Device(int index, Adapter adapter, VkDevice device, const std::optional<QueueIndex>& copies)
    : index_(index),
      adapter_(std::move(adapter)),
      device_(device),
      vk_(device),
      copies_(copies),
      buffers_(std::make_unique<DeviceMemory>()),
      groups_(std::make_unique<compile::GroupMemo>()) {
  // Only on request, also on GPUs: for kernels of a few microseconds, the fastest one alone is not the fastest one in a
  // batch.
  if (is_on(Setting::autotune))
    choices_ = std::make_unique<Autotune>(autotune_file("vulkan " + adapter_.name + " " + adapter_.driver));
}

DeviceLimits DeviceLimits::from_environment() {
  DeviceLimits limits;
  if (const auto bytes = numeric_setting(Setting::device_memory); bytes && *bytes > 0) limits.memory = *bytes;
  if (is_off(Setting::copy_stream)) limits.uploads = UploadOverlap::none;
  if (is_on(Setting::copy_stream)) limits.uploads = UploadOverlap::any_queue;
  return limits;
}

std::optional<Device::QueueIndex> Device::find_copy_queue(const Adapter& adapter, UploadOverlap uploads) {
  if (uploads == UploadOverlap::none) return std::nullopt;
  if (adapter.copy_family) return QueueIndex{*adapter.copy_family, 0};
  if (uploads == UploadOverlap::own_queue) return std::nullopt;
  return QueueIndex{adapter.queue_family, adapter.queues > 1 ? 1U : 0U};
}

Result<VkDevice> Device::make(const Adapter& adapter, const std::optional<QueueIndex>& copies) {
  const float priorities[] = {1, 1};
  std::vector<VkDeviceQueueCreateInfo> queues{{.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                               .queueFamilyIndex = adapter.queue_family,
                                               .queueCount = 1,
                                               .pQueuePriorities = priorities}};
  if (copies && copies->family == adapter.queue_family) {
    queues[0].queueCount = copies->number + 1;
  } else if (copies) {
    queues.push_back(queues[0]);
    queues[1].queueFamilyIndex = copies->family;
  }
  VkPhysicalDeviceVulkan12Features of_12{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  const auto& facts = adapter.facts;
  const VkBool32 has_narrow = facts.has_narrow ? VK_TRUE : VK_FALSE;
  of_12.storageBuffer8BitAccess = has_narrow;
  of_12.shaderInt8 = has_narrow;
  of_12.scalarBlockLayout = VK_TRUE;
  of_12.timelineSemaphore = VK_TRUE;
  of_12.bufferDeviceAddress = VK_TRUE;
  of_12.vulkanMemoryModel = VK_TRUE;
  VkPhysicalDeviceVulkan11Features of_11{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
                                         .pNext = &of_12};
  of_11.storageBuffer16BitAccess = has_narrow;
  VkPhysicalDeviceFeatures2 features{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &of_11};
  features.features.shaderInt64 = facts.has_int64 ? VK_TRUE : VK_FALSE;
  features.features.shaderInt16 = has_narrow;
  features.features.shaderFloat64 = facts.has_f64 ? VK_TRUE : VK_FALSE;
  std::vector<const char*> extensions;
  tiles::MatrixFeatures of_matrices{.cooperativeMatrix = VK_TRUE};
  tiles::BFloat16Features of_bf16{.shaderBFloat16Type = VK_TRUE, .shaderBFloat16CooperativeMatrix = VK_TRUE};
  if (facts.has_f16_tiles || facts.has_bf16_tiles) {
    of_12.shaderFloat16 = VK_TRUE;
    of_12.pNext = &of_matrices;
    extensions.push_back(tiles::kMatrixExtension);
  }
  if (facts.has_bf16_tiles) {
    of_matrices.pNext = &of_bf16;
    extensions.push_back(tiles::kBFloat16Extension);
  }
  const VkDeviceCreateInfo info{.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                .pNext = &features,
                                .queueCreateInfoCount = static_cast<std::uint32_t>(queues.size()),
                                .pQueueCreateInfos = queues.data(),
                                .enabledExtensionCount = static_cast<std::uint32_t>(extensions.size()),
                                .ppEnabledExtensionNames = extensions.data()};
  VkDevice device = VK_NULL_HANDLE;
  BURN_RETURN_IF_ERROR(
      check(instance_functions().CreateDevice(adapter.handle, &info, nullptr, &device), "opening the device"));
  return device;
}

Result<std::shared_ptr<Device>> Device::open(int index, const DeviceLimits& limits) {
  BURN_TRY(auto adapter, adapter_at(index));
  adapter.memory_bytes = std::min(adapter.memory_bytes, limits.memory);
  auto& most = adapter.facts.max_allocation;
  most = std::min({most, limits.allocation, adapter.memory_bytes}) / kAllocationUnit * kAllocationUnit;
  const auto copies = find_copy_queue(adapter, limits.uploads);
  BURN_TRY(auto* const handle, make(adapter, copies));
  std::shared_ptr<Device> device(new Device(index, std::move(adapter), handle, copies));
  BURN_RETURN_IF_ERROR(device->start(limits));
  return device;
}

Status Device::start(const DeviceLimits& limits) {
  vk_.GetDeviceQueue(device_, adapter_.queue_family, 0, &queue_);
  if (copies_) vk_.GetDeviceQueue(device_, copies_->family, copies_->number, &copy_queue_);
  BURN_RETURN_IF_ERROR(start_memory(limits));
  BURN_TRY(pipelines_, Pipelines::open(*this));
  return {};
}

Status Device::start_memory(const DeviceLimits& limits) {
  VkPhysicalDeviceMemoryProperties2 all{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
  instance_functions().GetPhysicalDeviceMemoryProperties2(adapter_.handle, &all);
  const auto& memory = all.memoryProperties;
  constexpr VkMemoryPropertyFlags kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                  kSeen = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                                  kCached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
  BURN_TRY(const auto marked, buffer_memory_types(device_, vk_));
  auto own = find_type(memory, marked, kLocal, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT);
  if (!own) own = find_type(memory, marked, kLocal);
  auto seen = find_type(memory, marked, kSeen | kCached);  // the host reads uncached memory twenty times slower
  if (!seen) seen = find_type(memory, marked, kSeen);
  if (!own || !seen)
    return failed_precondition(fmt::format("Vulkan: {} has no memory that buffers can be in", adapter_.name));
  // Blocks are used by both queues without a transfer of ownership, which gains nothing for buffers.
  std::vector<std::uint32_t> families{adapter_.queue_family};
  if (copies_ && copies_->family != adapter_.queue_family) families.push_back(copies_->family);
  const auto heap = memory.memoryHeaps[memory.memoryTypes[*own].heapIndex].size;
  memory_ = std::make_unique<Pages>(
      device_, vk_,
      Pages::Kind{.type = *own,
                  .page_bytes = std::min(std::clamp<std::uint64_t>(heap / 64, 16 * kMiB, 256 * kMiB) / kMiB * kMiB,
                                         adapter_.facts.max_allocation),
                  .max_bytes = adapter_.facts.max_allocation,
                  .limit_bytes = adapter_.memory_bytes,
                  .name = "the device's memory",
                  .families = families});
  host_pages_ = std::make_unique<Pages>(device_, vk_,
                                        Pages::Kind{.type = *seen,
                                                    .is_mapped = true,
                                                    .page_bytes = 16 * kMiB,
                                                    .max_bytes = adapter_.max_allocation,
                                                    .limit_bytes = std::numeric_limits<std::uint64_t>::max(),
                                                    .name = "host memory",
                                                    .families = families});
  const auto written = find_type(memory, marked, kLocal | kSeen);
  if (written && limits.is_written_by_host) {
    written_pages_ =
        std::make_unique<Pages>(device_, vk_,
                                Pages::Kind{.type = *written,
                                            .is_mapped = true,
                                            .page_bytes = kMiB,
                                            .max_bytes = adapter_.max_allocation,
                                            .limit_bytes = std::min(adapter_.memory_bytes / 64, kMaxWrittenBytes),
                                            .name = "the device's memory that the host writes"});
  }
  return {};
}

Device::~Device() {
  if (queue_) vk_.DeviceWaitIdle(device_);
  pipelines_.reset();
  memory_.reset();
  host_pages_.reset();
  written_pages_.reset();
  vk_.DestroyDevice(device_, nullptr);
}

std::uint32_t Device::family(Queue queue) const {
  return queue == Queue::copies && copies_ ? copies_->family : adapter_.queue_family;
}

Status Device::submit(Queue queue, std::span<const Batch> batches, VkSemaphore timeline) {
  constexpr VkPipelineStageFlags kAll = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
  std::vector<VkTimelineSemaphoreSubmitInfo> values(batches.size());
  std::vector<VkSubmitInfo> infos(batches.size());
  for (std::size_t k = 0; k < batches.size(); ++k) {
    const auto& batch = batches[k];
    const std::uint32_t waits = batch.awaited ? 1 : 0;
    values[k] = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                 .waitSemaphoreValueCount = waits,
                 .pWaitSemaphoreValues = &batch.awaited_value,
                 .signalSemaphoreValueCount = 1,
                 .pSignalSemaphoreValues = &batch.value};
    infos[k] = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                .pNext = &values[k],
                .waitSemaphoreCount = waits,
                .pWaitSemaphores = &batch.awaited,
                .pWaitDstStageMask = &kAll,
                .commandBufferCount = static_cast<std::uint32_t>(batch.commands.size()),
                .pCommandBuffers = batch.commands.data(),
                .signalSemaphoreCount = 1,
                .pSignalSemaphores = &timeline};
  }
  const bool is_beside = queue == Queue::copies && copy_queue_ != queue_;
  const std::lock_guard lock(is_beside ? copy_mutex_ : queue_mutex_);
  return check_result(vk_.QueueSubmit(is_beside ? copy_queue_ : queue_, static_cast<std::uint32_t>(infos.size()),
                                      infos.data(), VK_NULL_HANDLE),
                      "enqueueing commands");
}

Status Device::check_result(VkResult result, const char* what) {
  if (result != VK_ERROR_DEVICE_LOST) return check(result, what);
  is_lost_ = true;
  return lost().with_context(what);
}

Status Device::lost() const {
  return unavailable(fmt::format("Vulkan: {} is lost: what it computed is gone; open it again", adapter_.name));
}

int device_count() {
  const auto adapters = usable_adapters();
  return adapters.ok() ? static_cast<int>(adapters->size()) : 0;
}

}  // namespace burn::backends::vulkan
