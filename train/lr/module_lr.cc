#include "train/lr/module_lr.h"

#include <algorithm>

#include "base/error.h"

namespace burn::lr {
namespace {

struct ModuleSchedulerRecord {
  std::string base;
  std::vector<std::string> groups;
  BURN_CONFIG(ModuleSchedulerRecord, base, groups)
};

}  // namespace

ModuleLearningRate& ModuleLearningRate::with_group(ParamGroup group, Scalar rate) {
  groups_.emplace_back(std::move(group), rate);
  return *this;
}

std::size_t ModuleLearningRate::group_of_param(ParamId id, std::string_view path) const {
  for (std::size_t i = groups_.size(); i > 0; --i) {
    if (groups_[i - 1].first.matches(id, path)) return i;
  }
  return 0;
}

ModuleLrScheduler& ModuleLrScheduler::with_group(ParamGroup group, Scheduler scheduler) {
  groups_.emplace_back(std::move(group), std::move(scheduler));
  return *this;
}

ModuleLearningRate ModuleLrScheduler::step() {
  ModuleLearningRate rates{base_.step()};
  for (auto& [group, scheduler] : groups_) rates.with_group(group, scheduler.step());
  return rates;
}

bool ModuleLrScheduler::needs_metric() const {
  return base_.needs_metric() ||
         std::ranges::any_of(groups_, [](const auto& of_group) { return of_group.second.needs_metric(); });
}

void ModuleLrScheduler::tell(double metric) {
  base_.tell(metric);
  for (auto& [group, scheduler] : groups_) scheduler.tell(metric);
}

std::string ModuleLrScheduler::to_record() const {
  if (groups_.empty()) return base_.to_record();
  ModuleSchedulerRecord record{.base = base_.to_record(), .groups = {}};
  for (const auto& [group, scheduler] : groups_) record.groups.push_back(scheduler.to_record());
  return record.to_json();
}

void ModuleLrScheduler::load_record(const std::string& json) {
  const bool is_plain = json.find("\"groups\"") == std::string::npos;
  if (groups_.empty() && is_plain) return base_.load_record(json);
  const auto record = ModuleSchedulerRecord::from_json(json, "the record of the learning rates");
  if (record.groups.size() != groups_.size()) {
    throw Error(StatusCode::invalid_argument, "load_record: the record has " + std::to_string(record.groups.size()) +
                                                  " groups, this schedule " + std::to_string(groups_.size()));
  }
  auto base = base_;
  auto groups = groups_;
  base.load_record(record.base);
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i].second.load_record(record.groups[i]);
  base_ = std::move(base);
  groups_ = std::move(groups);
}

}  // namespace burn::lr
