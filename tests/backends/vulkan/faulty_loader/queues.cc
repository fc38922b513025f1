#include "tests/backends/vulkan/faulty_loader/queues.h"

#include <algorithm>
#include <utility>

namespace burn::testing {

VkResult Queues::submit(VkQueue queue, std::uint32_t count, const VkSubmitInfo* infos, const Submit& driver) {
  const std::lock_guard lock(mutex_);
  const bool is_copy = queue == copies();
  for (std::uint32_t k = 0; k < count; ++k) {
    const auto& info = infos[k];
    const auto* const values = static_cast<const VkTimelineSemaphoreSubmitInfo*>(info.pNext);
    Batch batch{.commands = {info.pCommandBuffers, info.pCommandBuffers + info.commandBufferCount}};
    if (info.waitSemaphoreCount > 0) {
      batch.awaited = info.pWaitSemaphores[0];
      batch.awaited_value = values->pWaitSemaphoreValues[0];
    }
    if (info.signalSemaphoreCount > 0) {
      batch.signalled = info.pSignalSemaphores[0];
      batch.value = values->pSignalSemaphoreValues[0];
    }
    (is_copy ? copies_ : work_).push_back(std::move(batch));
    if (is_copy) ++faults_.copies;
  }
  return release_held(driver);
}

VkResult Queues::release(const Submit& driver) {
  const std::lock_guard lock(mutex_);
  return release_held(driver);
}

VkResult Queues::release_held(const Submit& driver) {
  while (!faults_.holds_work && !work_.empty()) {
    if (const auto result = do_first(work_, driver); result != VK_SUCCESS) return result;
  }
  while (!faults_.holds_copies && !copies_.empty()) {
    if (const auto result = do_first(copies_, driver); result != VK_SUCCESS) return result;
  }
  return VK_SUCCESS;
}

VkResult Queues::do_first(Waiting& of, const Submit& driver) {
  const auto batch = std::move(of.front());
  of.pop_front();
  if (batch.awaited) {
    if (const auto result = do_until(batch.awaited, batch.awaited_value, driver); result != VK_SUCCESS) return result;
  }
  const VkTimelineSemaphoreSubmitInfo values{.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                             .signalSemaphoreValueCount = 1,
                                             .pSignalSemaphoreValues = &batch.value};
  const VkSubmitInfo info{.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                          .pNext = &values,
                          .commandBufferCount = static_cast<std::uint32_t>(batch.commands.size()),
                          .pCommandBuffers = batch.commands.data(),
                          .signalSemaphoreCount = 1,
                          .pSignalSemaphores = &batch.signalled};
  const auto result = driver(work, info);
  if (result == VK_SUCCESS) done_[batch.signalled] = batch.value;
  return result;
}

VkResult Queues::do_until(VkSemaphore semaphore, std::uint64_t value, const Submit& driver) {
  while (done_[semaphore] < value) {
    const auto signals_it = [&](const Batch& batch) { return batch.signalled == semaphore; };
    auto* const of = std::ranges::any_of(work_, signals_it)     ? &work_
                     : std::ranges::any_of(copies_, signals_it) ? &copies_
                                                                : nullptr;
    if (!of) return VK_ERROR_UNKNOWN;
    if (const auto result = do_first(*of, driver); result != VK_SUCCESS) return result;
  }
  return VK_SUCCESS;
}

void Queues::forget(VkSemaphore semaphore) {
  const std::lock_guard lock(mutex_);
  done_.erase(semaphore);
}

void Queues::clear() {
  const std::lock_guard lock(mutex_);
  work_.clear();
  copies_.clear();
  done_.clear();
}

}  // namespace burn::testing
