#include "backends/vulkan/device/kernel_times.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "backends/vulkan/device/device.h"
#include "base/settings.h"

namespace burn::backends::vulkan {

Result<std::shared_ptr<RecordedTimes>> RecordedTimes::make(Device& device, std::size_t dispatches) {
  const VkQueryPoolCreateInfo info{.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                   .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                   .queryCount = static_cast<std::uint32_t>(dispatches + 1)};
  VkQueryPool pool = VK_NULL_HANDLE;
  BURN_RETURN_IF_ERROR(device.check_result(device.vk().CreateQueryPool(device.handle(), &info, nullptr, &pool),
                                           "making a pool of times"));
  return std::shared_ptr<RecordedTimes>(new RecordedTimes(device, pool, dispatches));
}

RecordedTimes::~RecordedTimes() { device_.vk().DestroyQueryPool(device_.handle(), pool_, nullptr); }

void RecordedTimes::begin(VkCommandBuffer commands) {
  device_.vk().CmdResetQueryPool(commands, pool_, 0, static_cast<std::uint32_t>(most_ + 1));
  device_.vk().CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, pool_, 0);
}

void RecordedTimes::mark(VkCommandBuffer commands, std::string name) {
  if (names_.size() == most_) return;
  names_.push_back(std::move(name));
  device_.vk().CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, pool_,
                                 static_cast<std::uint32_t>(names_.size()));
}

Result<std::vector<double>> RecordedTimes::microseconds() const {
  std::vector<std::uint64_t> ticks(names_.size() + 1);
  BURN_RETURN_IF_ERROR(device_.check_result(
      device_.vk().GetQueryPoolResults(device_.handle(), pool_, 0, static_cast<std::uint32_t>(ticks.size()),
                                       ticks.size() * sizeof ticks[0], ticks.data(), sizeof ticks[0],
                                       VK_QUERY_RESULT_64_BIT),
      "reading times"));
  std::vector<double> all;
  for (std::size_t k = 0; k < names_.size(); ++k)
    all.push_back(static_cast<double>(ticks[k + 1] - ticks[k]) * device_.adapter().tick_ns / 1000);
  return all;
}

void RecordedTimes::collect() {
  const auto all = microseconds();
  if (!all.ok()) return;
  for (std::size_t k = 0; k < names_.size(); ++k) KernelTimes::all().add(names_[k], (*all)[k]);
}

bool KernelTimes::are_wanted() { return setting(Setting::trace).find("kernels") != std::string::npos; }

// Devices of a process are kept until it ends, so all times are known then.
KernelTimes& KernelTimes::all() {
  static auto* const times = [] {
    std::atexit([] { fmt::print(stderr, "{}", all().text()); });
    return new KernelTimes();  // never deleted: the device's threads may still add to it
  }();
  return *times;
}

void KernelTimes::add(const std::string& name, double microseconds) {
  const std::lock_guard lock(mutex_);
  auto& sum = sums_[name];
  sum.least = sum.count == 0 ? microseconds : std::min(sum.least, microseconds);
  ++sum.count;
  sum.microseconds += microseconds;
}

std::string KernelTimes::text() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::string, Sum>> all(sums_.begin(), sums_.end());
  std::ranges::sort(all, [](const auto& a, const auto& b) { return a.second.microseconds > b.second.microseconds; });
  std::string out;
  if (!all.empty()) out = "kernels: runs, all of them in us, each, the least; step\n";
  for (const auto& [name, sum] : all)
    out += fmt::format("{:7} {:11.0f} {:9.1f} {:9.1f}  {}\n", sum.count, sum.microseconds,
                       sum.microseconds / static_cast<double>(sum.count), sum.least, name);
  return out;
}

}  // namespace burn::backends::vulkan
