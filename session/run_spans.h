// A run of a session as spans.
#pragma once

#include <chrono>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "ir/program.h"
#include "serving/tenant_account.h"

namespace burn::session {

struct RunDurations {
  std::chrono::nanoseconds queued{0};  // from when all of its call had come to its beginning: for calls before it, and
                                       // for the device
  std::chrono::nanoseconds took{0};    // from its beginning, with compiling, to its end, which is now; on devices that
                                       // work on their own until it was handed to the device
  std::chrono::nanoseconds inputs{0}, turn{0};  // of that: waits for tensors on their way, and for other tenants' runs
  std::chrono::nanoseconds collectives{0};      // what its collectives took, perhaps beside computation
};

// "run" from when its call had come to its end; in it "queue" and "execute". `tenant`, `program`: may be null.
std::vector<Span> run_spans(const TraceContext& trace, const RunDurations& times, std::string_view device,
                            const serving::TenantAccount* tenant, const ir::Program* program, const Status& status);

}  // namespace burn::session
