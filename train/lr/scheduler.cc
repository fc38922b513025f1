#include "train/lr/scheduler.h"

#include <cmath>

#include "base/error.h"
#include "train/lr/check_rate.h"

namespace burn::lr {
namespace {

struct SchedulerRecord {
  std::int64_t done = 0;
  std::optional<std::string> state{};  // the state of a schedule that follows a metric
  BURN_CONFIG(SchedulerRecord, done, state)
};

}  // namespace

Scheduler::Scheduler(double rate) : Scheduler(Constant{.rate = rate}) { (void)at(0); }

double Scheduler::at(std::int64_t step) const {
  const double rate = held_->at(step);
  if (!(rate >= 0 && std::isfinite(rate)))
    check_rate("the schedule", rate, {}, "the learning rate of step " + std::to_string(step));
  return rate;
}

std::string Scheduler::to_record() const {
  SchedulerRecord record{.done = done_};
  if (needs_metric()) record.state = held_->state();
  return record.to_json();
}

void Scheduler::load_record(const std::string& json) {
  const auto record = SchedulerRecord::from_json(json, "the record of the learning rate");
  if (record.state.has_value() != needs_metric()) {
    throw Error(StatusCode::invalid_argument,
                std::string{"load_record: the record is of a schedule that "} +
                    (record.state ? "follows a metric, this one does not" : "follows no metric, this one does"));
  }
  if (record.state) held_ = held_->with_state(*record.state);
  done_ = record.done;
}

}  // namespace burn::lr
