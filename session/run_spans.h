// Trace spans of a session's run.
#pragma once

#include <chrono>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "ir/program.h"
#include "serving/tenant_account.h"

namespace burn::session {

struct RunDurations {
  std::chrono::nanoseconds queued{0};  // from the complete arrival of its call to its beginning: waiting for earlier
                                       // calls and for the device
  std::chrono::nanoseconds took{0};    // from its beginning, with compiling, to its end, which is now; on asynchronous
                                       // devices until it was submitted to the device
  std::chrono::nanoseconds inputs{0}, turn{0};  // of that: waits for uploads of inputs, and for other tenants' runs
  std::chrono::nanoseconds collectives{0};      // time of its collectives, which may overlap with computation
};

// Returns "run", from the arrival of its call to its end, with the child spans "queue" and "execute". `tenant`,
// `program`: may be null.
std::vector<Span> run_spans(const TraceContext& trace, const RunDurations& times, std::string_view device,
                            const serving::TenantAccount* tenant, const ir::Program* program, const Status& status);

}  // namespace burn::session
