#include "train/lr/scheduler.h"

namespace burn::lr {
namespace {

struct SchedulerRecord {
  std::int64_t done = 0;
  BURN_CONFIG(SchedulerRecord, done)
};

}  // namespace

std::string Scheduler::to_record() const { return SchedulerRecord{.done = done_}.to_json(); }

void Scheduler::load_record(const std::string& json) {
  done_ = SchedulerRecord::from_json(json, "the record of the learning rate").done;
}

}  // namespace burn::lr
