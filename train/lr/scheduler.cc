#include "train/lr/scheduler.h"

#include <cmath>

#include "train/lr/check_rate.h"

namespace burn::lr {
namespace {

struct SchedulerRecord {
  std::int64_t done = 0;
  BURN_CONFIG(SchedulerRecord, done)
};

}  // namespace

double Scheduler::at(std::int64_t step) const {
  const double rate = at_(step);
  if (!(rate >= 0 && std::isfinite(rate)))
    check_rate("the schedule", rate, {}, "the learning rate of step " + std::to_string(step));
  return rate;
}

std::string Scheduler::to_record() const { return SchedulerRecord{.done = done_}.to_json(); }

void Scheduler::load_record(const std::string& json) {
  done_ = SchedulerRecord::from_json(json, "the record of the learning rate").done;
}

}  // namespace burn::lr
