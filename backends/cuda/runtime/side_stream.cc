#include "backends/cuda/runtime/side_stream.h"

#include <algorithm>

namespace burn::backends::cuda {
namespace {

constexpr int kFirst = -1000;  // priority: the driver clamps it to the highest one

Status wait(CUstream stream, CUevent event) {
  return check(driver().cuStreamWaitEvent(stream, event, 0), "cuStreamWaitEvent");
}
Status record(CUevent event, CUstream stream) { return check(driver().cuEventRecord(event, stream), "cuEventRecord"); }

}  // namespace

Result<std::unique_ptr<SideStream>> SideStream::open() {
  CUstream side = nullptr;
  BURN_RETURN_IF_ERROR(
      check(driver().cuStreamCreateWithPriority(&side, CU_STREAM_NON_BLOCKING, kFirst), "cuStreamCreate"));
  return std::unique_ptr<SideStream>(new SideStream(side));
}

SideStream::~SideStream() {
  for (auto* const event : events_) driver().cuEventDestroy(event);
  driver().cuStreamDestroy(side_);
}

Result<CUevent> SideStream::event(std::size_t k) {
  while (events_.size() <= k) {
    CUevent made = nullptr;
    BURN_RETURN_IF_ERROR(check(driver().cuEventCreate(&made, CU_EVENT_DISABLE_TIMING), "cuEventCreate"));
    events_.push_back(made);
  }
  return events_[k];
}

Status SideStream::enqueue(const Lanes& lanes, CUstream stream,
                           const std::function<Status(std::size_t command, CUstream on)>& enqueue_one) {
  std::vector<std::size_t> number(lanes.order.size());  // numbers of the commands on the side stream: 1, 2, ...
  std::size_t aside = 0,
              awaited = 0;  // commands on the side stream, and how many of them the main stream has waited for
  bool is_behind = true;    // whether the main stream has commands that the side stream does not wait for
  const auto wait_for = [&](std::size_t command_aside) -> Status {
    if (command_aside <= awaited) return {};
    awaited = command_aside;
    BURN_TRY(auto* const done, event(command_aside));
    return wait(stream, done);
  };
  const auto put_aside = [&](std::size_t i) -> Status {
    if (is_behind) {
      BURN_TRY(auto* const here, event(0));
      BURN_RETURN_IF_ERROR(record(here, stream));
      BURN_RETURN_IF_ERROR(wait(side_, here));
      is_behind = false;
    }
    BURN_TRY(auto* const done, event(aside + 1));
    auto status = enqueue_one(i, side_);
    number[i] = ++aside;
    BURN_RETURN_IF_ERROR(record(done, side_));
    return status;
  };
  const auto put = [&](std::size_t i) -> Status {
    if (lanes.is_on_side_stream[i]) return put_aside(i);
    std::size_t last = 0;
    for (const auto before : lanes.order[i]) last = std::max(last, number[static_cast<std::size_t>(before)]);
    BURN_RETURN_IF_ERROR(wait_for(last));
    is_behind = true;
    return enqueue_one(i, stream);
  };
  Status status;
  for (std::size_t i = 0; status.ok() && i < lanes.order.size(); ++i) status = put(i);
  const auto ended = wait_for(aside);  // also after a failure: later commands use the same memory
  return status.ok() ? ended : status;
}

}  // namespace burn::backends::cuda
