// Hands the trace of a program to the servers that it uses: their spans are then parts of the program's span.
//
//   const TraceScope scope{value_or_throw(parse_traceparent(header))};
//   loss = step(images, targets);  // the runs that this thread sends here belong to the trace
//
// docs/operate/traces.md has the whole.
#pragma once

#include "base/trace_context.h"

namespace burn {

// From here to the end of the block, for the runs that this thread sends. A run is sent when its results are first
// needed, at the latest by Device::flush(). Scopes nest: the innermost one counts. Ended by the thread that began it,
// in the opposite order.
class TraceScope {
 public:
  // A context that does not exist: runs belong to no trace of the program, as outside of any scope.
  [[nodiscard]] explicit TraceScope(const TraceContext& context) : outer_(active_) { active_ = context; }
  ~TraceScope() { active_ = outer_; }
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

  static const TraceContext& current() { return active_; }

 private:
  static inline constinit thread_local TraceContext active_{};
  const TraceContext outer_;
};

}  // namespace burn
