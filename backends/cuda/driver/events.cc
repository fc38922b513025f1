#include "backends/cuda/driver/events.h"

namespace burn::backends::cuda {

Events::~Events() {
  driver().cuCtxSetCurrent(context_);
  for (auto* event : idle_) driver().cuEventDestroy(event);
}

Result<CUevent> Events::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto* event = idle_.back();
      idle_.pop_back();
      return event;
    }
  }
  CUevent event = nullptr;
  BURN_RETURN_IF_ERROR(check(driver().cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate"));
  return event;
}

void Events::give_back(CUevent event) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(event);
}

Result<Event> Events::record(CUstream stream) {
  BURN_TRY(auto* const taken, take());
  Event event(taken, [pool = shared_from_this()](CUevent it) { pool->give_back(it); });
  BURN_RETURN_IF_ERROR(check(driver().cuEventRecord(taken, stream), "cuEventRecord"));
  return event;
}

}  // namespace burn::backends::cuda
