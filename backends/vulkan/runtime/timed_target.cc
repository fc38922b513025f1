#include "backends/vulkan/runtime/timed_target.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "backends/autotune.h"
#include "backends/vulkan/device/pipelines.h"
#include "backends/vulkan/runtime/trial.h"
#include "compile/codegen/alternatives.h"

namespace burn::backends::vulkan {
namespace {

using compile::View;

// All alternatives of one op, emitted and compiled together.
class TimedAlternatives {
 public:
  TimedAlternatives(std::shared_ptr<Device> device, std::span<const View> operands, std::span<const View> results)
      : device_(std::move(device)), target_(device_->facts(), device_->groups()), views_(operands, results) {}

  Status start(std::span<const compile::Alternative> alternatives) {
    std::vector<compile::KernelSource> sources;
    std::size_t scratch_bytes = 0;
    for (const auto& alternative : alternatives) {
      auto& written = written_.emplace_back(std::make_unique<compile::TrialEmitter>(target_));
      if (!alternative.emit(*written, views_.operands, views_.results).ok()) {
        written.reset();
        continue;
      }
      ++applicable_;
      scratch_bytes = std::max(scratch_bytes, written->scratch_bytes());
      sources.insert(sources.end(), written->sources().begin(), written->sources().end());
    }
    if (applicable_ < 2) return {};
    // Compiled in parallel; a kernel that the device does not accept is an error of its alternative alone.
    (void)device_->pipelines().of(sources);
    auto sizes = views_.sizes;
    sizes.push_back(scratch_bytes);
    BURN_TRY(trial_, Trial::open(device_, sizes));
    return {};
  }

  Result<double> seconds(std::size_t which) {
    if (!written_[which]) return unimplemented("Vulkan: this alternative does not do it");
    if (!trial_) return 0.0;              // there is only one alternative
    constexpr std::size_t kMaxTimes = 3;  // measurements, each the mean of several runs for short kernels
    auto& times = times_[which];
    if (times.size() < kMaxTimes) {
      BURN_TRY(const auto seconds, trial_->seconds(*written_[which], views_.operands.size(), views_.results.size()));
      times.push_back(seconds);
    }
    return std::ranges::min(times);
  }

 private:
  const std::shared_ptr<Device> device_;
  VulkanTarget target_;
  const compile::TrialViews views_;
  std::vector<std::unique_ptr<compile::TrialEmitter>> written_;  // null: does not support the op
  std::map<std::size_t, std::vector<double>> times_;
  int applicable_ = 0;
  std::unique_ptr<Trial> trial_;
};

}  // namespace

TimedTarget::TimedTarget(std::shared_ptr<Device> device)
    : VulkanTarget(device->facts(), device->groups()), device_(std::move(device)) {}

std::size_t TimedTarget::fastest(const std::string& key, std::span<const View> operands, std::span<const View> results,
                                 std::span<const compile::Alternative> alternatives) {
  // For smaller sizes, kernels take no longer than the launch overhead.
  constexpr std::size_t kMinBytes = std::size_t{1} << 18;
  auto* const choices = device_->choices();
  const auto sizes = compile::TrialViews(operands, results).sizes;
  if (!choices || std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}) < kMinBytes) return 0;
  std::vector<std::string_view> names;
  for (const auto& alternative : alternatives) names.push_back(alternative.name);
  std::optional<TimedAlternatives> contest;
  Status started;
  const int chosen = choices->choose_timed(key, names, [&](int i) -> Result<double> {
    if (!contest) {
      contest.emplace(device_, operands, results);
      started = contest->start(alternatives);
    }
    BURN_RETURN_IF_ERROR(started);
    return contest->seconds(static_cast<std::size_t>(i));
  });
  return static_cast<std::size_t>(chosen);
}

}  // namespace burn::backends::vulkan
