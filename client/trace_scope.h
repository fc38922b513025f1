// Passes the trace of a program to the servers that it uses: their spans become children of the program's span.
//
//   const TraceScope scope{value_or_throw(parse_traceparent(header))};
//   loss = step(images, targets);  // the runs that this thread sends here belong to the trace
//
// Details: docs/operate/traces.md.
#pragma once

#include "base/trace_context.h"

namespace burn {

// Applies to the runs that this thread sends, from its construction to the end of the block. A run is sent when its
// results are first needed, at the latest by Device::flush(). Scopes nest: the innermost one counts. Requires:
// destroyed by the thread that constructed it, in reverse order of construction.
class TraceScope {
 public:
  // An invalid context: runs belong to no trace of the program, as outside of any scope.
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
