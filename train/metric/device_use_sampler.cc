#include "train/metric/device_use_sampler.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "client/record/device_state.h"

namespace burn::metric {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kInterval{1};

}  // namespace

struct DeviceUseSampler::Answers {
  struct Answer {
    Clock::time_point when;
    proto::Usage usage;
  };
  std::mutex mutex;
  std::optional<Clock::time_point> asked;
  std::optional<Answer> last, before;
};

DeviceUseSampler::DeviceUseSampler() : answers_(std::make_shared<Answers>()) {}

void DeviceUseSampler::ask(const Device& device) {
  {
    const std::lock_guard lock(answers_->mutex);
    const auto now = Clock::now();
    auto& asked = answers_->asked;
    if (asked && now - *asked < kInterval) return;
    asked = now;
  }
  device.state()->session().stats([answers = answers_](const Result<proto::SessionStats>& stats) {
    const std::lock_guard lock(answers->mutex);
    answers->before = std::exchange(answers->last, std::nullopt);
    if (stats.ok()) answers->last = Answers::Answer{Clock::now(), stats->device};
  });
}

std::optional<train::events::DeviceUse> DeviceUseSampler::last() const {
  const std::lock_guard lock(answers_->mutex);
  const auto& last = answers_->last;
  const auto& before = answers_->before;
  if (!last) return std::nullopt;
  const auto& [when, usage] = *last;
  train::events::DeviceUse use{usage.memory_in_use, usage.memory_limit, std::nullopt};
  if (before && when > before->when) {
    const std::chrono::duration<double> between = when - before->when;
    use.busy = std::clamp((usage.busy_seconds - before->usage.busy_seconds) / between.count(), 0.0, 1.0);
  }
  return use;
}

}  // namespace burn::metric
