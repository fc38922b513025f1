#include "train/lr/compose.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "train/lr/check_rate.h"

namespace burn::lr {
namespace {

[[noreturn]] void reject(const std::string& what) { throw Error(StatusCode::invalid_argument, what); }

bool any_needs_metric(const std::vector<Scheduler>& schedulers) {
  return std::ranges::any_of(schedulers, [](const Scheduler& schedule) { return schedule.needs_metric(); });
}

struct PartsRecord {
  std::vector<std::string> parts;
  BURN_CONFIG(PartsRecord, parts)
};

std::string record_of(const std::vector<Scheduler>& schedulers) {
  PartsRecord record;
  for (const auto& schedule : schedulers) record.parts.push_back(schedule.to_record());
  return record.to_json();
}

std::vector<Scheduler> loaded(std::vector<Scheduler> schedulers, const std::string& json) {
  const auto record = PartsRecord::from_json(json, "the record of a schedule made of schedules");
  if (record.parts.size() != schedulers.size()) {
    reject("load_record: the record is of " + std::to_string(record.parts.size()) + " schedules, these are " +
           std::to_string(schedulers.size()));
  }
  for (std::size_t i = 0; i < schedulers.size(); ++i) schedulers[i].load_record(record.parts[i]);
  return schedulers;
}

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

bool Composed::needs_metric() const { return any_needs_metric(schedulers_); }
void Composed::tell(double metric) {
  for (auto& schedule : schedulers_) schedule.tell(metric);
}
std::string Composed::state_record() const { return record_of(schedulers_); }
void Composed::load_state_record(const std::string& json) { schedulers_ = loaded(schedulers_, json); }

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

std::size_t Sequential::which(std::int64_t step) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(milestones_, step) - milestones_.begin());
}

double Sequential::at(std::int64_t step) const {
  const auto i = which(step);
  return schedulers_[i].at(step - (i == 0 ? 0 : milestones_[i - 1]));
}

bool Sequential::needs_metric() const { return any_needs_metric(schedulers_); }
void Sequential::tell(double metric, std::int64_t steps) {
  if (steps > 0) schedulers_[which(steps - 1)].tell(metric);
}
std::string Sequential::state_record() const { return record_of(schedulers_); }
void Sequential::load_state_record(const std::string& json) { schedulers_ = loaded(schedulers_, json); }

Warmup::Warmup(std::int64_t steps, Scheduler schedule) : steps_(steps), schedule_(std::move(schedule)) {
  if (steps < 0) reject("lr::warmup: steps is " + std::to_string(steps) + ", must not be negative");
}

double Warmup::at(std::int64_t step) const {
  if (step >= steps_) return schedule_.at(step - steps_);
  return schedule_.at(0) * static_cast<double>(step + 1) / static_cast<double>(steps_ + 1);
}

void Warmup::tell(double metric, std::int64_t steps) {
  if (steps > steps_) schedule_.tell(metric);
}

}  // namespace burn::lr
