#include "backends/vulkan/device/timeline.h"

#include <chrono>

namespace burn::backends::vulkan {

Result<std::shared_ptr<Timeline>> Timeline::open(std::shared_ptr<Device> device) {
  const VkSemaphoreTypeCreateInfo type{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                       .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
  const VkSemaphoreCreateInfo info{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
  VkSemaphore semaphore = VK_NULL_HANDLE;
  BURN_RETURN_IF_ERROR(
      device->note(device->vk().CreateSemaphore(device->handle(), &info, nullptr, &semaphore), "making a semaphore"));
  return std::shared_ptr<Timeline>(new Timeline(std::move(device), semaphore));
}

Timeline::~Timeline() {
  (void)wait(submitted());
  device_->vk().DestroySemaphore(device_->handle(), semaphore_, nullptr);
}

bool Timeline::is_reached(std::uint64_t number) const {
  if (device_->is_lost()) return true;
  std::uint64_t reached = 0;
  const auto result = device_->vk().GetSemaphoreCounterValue(device_->handle(), semaphore_, &reached);
  return !device_->note(result, "asking how far the device is").ok() || reached >= number;
}

Status Timeline::wait(std::uint64_t number) const {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const VkSemaphoreWaitInfo info{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                 .semaphoreCount = 1,
                                 .pSemaphores = &semaphore_,
                                 .pValues = &number};
  // A thread that blocks is woken tens of microseconds late: short work is waited for by asking.
  if (!device_->adapter().is_cpu()) {
    constexpr std::chrono::microseconds kSpin{500};
    const auto until = std::chrono::steady_clock::now() + kSpin;
    do {
      if (is_reached(number)) break;
    } while (std::chrono::steady_clock::now() < until);
  }
  while (!device_->is_lost()) {
    const auto result = device_->vk().WaitSemaphores(device_->handle(), &info, kSecond);
    if (result == VK_TIMEOUT) continue;
    auto status = device_->note(result, "waiting for the device");
    if (device_->is_lost()) break;
    return status;
  }
  return device_->lost();
}

Status Timeline::submit(VkCommandBuffer commands) {
  if (device_->is_lost()) return device_->lost();
  const auto number = submitted() + 1;
  BURN_RETURN_IF_ERROR(device_->submit(commands, semaphore_, number));
  submitted_.store(number, std::memory_order_release);
  return {};
}

}  // namespace burn::backends::vulkan
