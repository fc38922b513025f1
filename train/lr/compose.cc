#include "train/lr/compose.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "train/lr/check_rate.h"

namespace burn::lr {
namespace {

[[noreturn]] void reject(const std::string& what) { throw Error(StatusCode::invalid_argument, what); }

}  // namespace

Composed::Composed(std::vector<Scheduler> schedulers, SchedulerReduction reduction)
    : schedulers_(std::move(schedulers)), reduction_(reduction) {
  if (schedulers_.empty()) reject("lr::Composed: there is no schedule");
}

double Composed::at(std::int64_t step) const {
  double sum = 0, product = 1;
  for (const auto& scheduler : schedulers_) {
    const double rate = scheduler.at(step);
    sum += rate;
    product *= rate;
  }
  const double rate = reduction_ == SchedulerReduction::prod  ? product
                      : reduction_ == SchedulerReduction::sum ? sum
                                                              : sum / static_cast<double>(schedulers_.size());
  check_rate("lr::Composed", rate);
  return rate;
}

Sequential::Sequential(std::vector<Scheduler> schedulers, std::vector<std::int64_t> milestones)
    : schedulers_(std::move(schedulers)), milestones_(std::move(milestones)) {
  if (schedulers_.empty()) reject("lr::Sequential: there is no schedule");
  if (milestones_.size() + 1 != schedulers_.size()) {
    reject("lr::Sequential: " + std::to_string(milestones_.size()) + " milestones for " +
           std::to_string(schedulers_.size()) + " schedules, must be one fewer");
  }
  std::int64_t before = 0;
  for (const auto milestone : milestones_) {
    if (milestone <= before) {
      reject("lr::Sequential: milestone " + std::to_string(milestone) + " after " + std::to_string(before) +
             ": they must be positive and rise");
    }
    before = milestone;
  }
}

double Sequential::at(std::int64_t step) const {
  const auto next = std::ranges::upper_bound(milestones_, step);
  const auto which = static_cast<std::size_t>(next - milestones_.begin());
  return schedulers_[which].at(step - (which == 0 ? 0 : milestones_[which - 1]));
}

}  // namespace burn::lr
