// A session whose calls wait in a queue and are performed in their order by one thread, or by their callers where
// nothing waits. What performs them is a CallPerformer: a device of this process (session/local_session.h), or others.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "proto/served_session.h"
#include "serving/live_sessions.h"
#include "serving/quotas.h"

namespace burn::serving {

class CallPerformer;

// What executes a call: the session's thread, or the caller's if nothing is waiting and the call is a matter of
// microseconds, which saves waking the other. Then callbacks come from within the call.
enum class Execution { on_its_thread, by_quick_callers };

class QueuedSession : public proto::ServedSession, public LiveSession {
 public:
  static std::unique_ptr<QueuedSession> make(std::unique_ptr<CallPerformer> performer, const Quotas& quotas,
                                             Execution execution);

  // Takes a turn like define(), for a program that could not even be read: its runs fail with `why`, and so do their
  // outputs.
  virtual Status define_invalid(proto::ProgramId id, std::size_t output_count, Status why,
                                std::vector<proto::ProgramId> forget) = 0;
};

}  // namespace burn::serving
