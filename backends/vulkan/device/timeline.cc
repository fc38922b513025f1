#include "backends/vulkan/device/timeline.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace burn::backends::vulkan {

Result<std::shared_ptr<Timeline>> Timeline::open(std::shared_ptr<Device> device, Queue queue) {
  const VkSemaphoreTypeCreateInfo type{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                       .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
  const VkSemaphoreCreateInfo info{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
  VkSemaphore semaphore = VK_NULL_HANDLE;
  BURN_RETURN_IF_ERROR(device->check_result(device->vk().CreateSemaphore(device->handle(), &info, nullptr, &semaphore),
                                            "making a semaphore"));
  return std::shared_ptr<Timeline>(new Timeline(std::move(device), queue, semaphore));
}

Timeline::~Timeline() {
  (void)wait(submitted());
  device_->vk().DestroySemaphore(device_->handle(), semaphore_, nullptr);
}

bool Timeline::is_reached(std::uint64_t number) const {
  if (device_->is_lost()) return true;
  std::uint64_t reached = 0;
  const auto result = device_->vk().GetSemaphoreCounterValue(device_->handle(), semaphore_, &reached);
  return !device_->check_result(result, "asking how far the device is").ok() || reached >= number;
}

Status Timeline::wait(std::uint64_t number) {
  if (number > handed_in_.load(std::memory_order_acquire)) hand_in_up_to(number);
  // Waits for the end of the number's batch: numbers between signalled ones are reached with the next signalled one,
  // and the validation layer would find no signal for them.
  const auto signalled = signal_of(number);
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const VkSemaphoreWaitInfo info{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                 .semaphoreCount = 1,
                                 .pSemaphores = &semaphore_,
                                 .pValues = &signalled};
  // Polls first, as a blocked thread is woken tens of microseconds late. Clients do not wait for the copy queue alone.
  if (!device_->adapter().is_cpu() && queue_ == Queue::compute) {
    constexpr std::chrono::microseconds kSpin{500};
    const auto until = std::chrono::steady_clock::now() + kSpin;
    do {
      if (is_reached(number)) break;
    } while (std::chrono::steady_clock::now() < until);
  }
  while (!device_->is_lost()) {
    const auto result = device_->vk().WaitSemaphores(device_->handle(), &info, kSecond);
    if (result == VK_TIMEOUT) continue;
    auto status = device_->check_result(result, "waiting for the device");
    if (device_->is_lost()) break;
    return status;
  }
  return device_->lost();
}

void Timeline::set_watcher(std::function<void(std::uint64_t)> watcher) { watcher_ = std::move(watcher); }

std::uint64_t Timeline::signal_of(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::lower_bound(signals_, number);
  return found == signals_.end() ? number : *found;  // not found: already reached
}

bool Timeline::is_due() {
  for (; !in_flight_.empty() && is_reached(in_flight_.front()); in_flight_.pop_front()) {
    while (!signals_.empty() && signals_.front() <= in_flight_.front()) signals_.pop_front();
  }
  return in_flight_.size() < kMaxInFlight || held_.size() >= kMaxHeld;
}

// Commands that have to wait begin a batch, as all of a batch waits. Points that are already reached need no wait:
// command buffers begin with a barrier for all that was done by then (CommandBuffers::begin()).
Status Timeline::hand_in_all() {
  std::vector<VkCommandBuffer> commands;
  commands.reserve(held_.size());
  for (const auto& held : held_) commands.push_back(held.commands);
  std::vector<Batch> batches;
  auto number = handed_in_.load(std::memory_order_relaxed);
  auto awaited = awaited_;
  for (std::size_t k = 0; k < held_.size(); ++k) {
    const auto& after = held_[k].after;
    const bool waits = after.of && after.number > awaited && !after.of->is_reached(after.number);
    awaited = std::max(awaited, after.number);
    if (waits || batches.empty()) batches.push_back({.commands = std::span(commands).subspan(k, 0)});
    auto& batch = batches.back();
    if (waits) {
      batch.awaited = after.of->semaphore_;
      batch.awaited_value = after.number;
    }
    batch.commands = {batch.commands.data(), batch.commands.size() + 1};
    batch.value = ++number;
  }
  BURN_RETURN_IF_ERROR(device_->submit(queue_, batches, semaphore_));
  held_.clear();
  awaited_ = awaited;
  for (const auto& batch : batches) signals_.push_back(batch.value);
  in_flight_.push_back(number);
  handed_in_.store(number, std::memory_order_release);
  return {};
}

Status Timeline::submit(VkCommandBuffer commands, Await after) {
  if (device_->is_lost()) return device_->lost();
  std::uint64_t watched = 0;
  {
    const std::lock_guard lock(mutex_);
    held_.push_back({commands, std::move(after)});
    const bool due = is_due();
    if (!watcher_ || due) {
      auto status = hand_in_all();
      // Commands that were accepted before are handed in later.
      if (!status.ok() && held_.size() == 1) {
        held_.clear();
        return status;
      }
    }
    if (held_.size() == 1)
      watched = in_flight_[in_flight_.size() - kMaxInFlight];  // fewer than so many are left once it is reached
    submitted_.fetch_add(1, std::memory_order_release);
  }
  if (watched > 0) watcher_(watched);
  return {};
}

Result<std::uint64_t> Timeline::hand_in(std::uint64_t number) {
  {
    const std::lock_guard lock(mutex_);
    if (number > handed_in_) BURN_RETURN_IF_ERROR(hand_in_all());
  }
  return signal_of(number);
}

void Timeline::hand_in_if_due() {
  const std::lock_guard lock(mutex_);
  // If it fails, wait() hands the commands in.
  if (!held_.empty() && is_due()) (void)hand_in_all();
}

void Timeline::hand_in_up_to(std::uint64_t number) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (!device_->is_lost()) {
    {
      const std::lock_guard lock(mutex_);
      if (number <= handed_in_) return;
      const auto status = hand_in_all();
      if (status.ok()) continue;
      if (std::chrono::steady_clock::now() > until) return device_->lose();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace burn::backends::vulkan
