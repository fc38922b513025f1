// A session whose calls wait in a queue and are performed in order by one thread, or by their callers if no call waits.
// A CallPerformer performs them: on a device of this process (session/local_session.h), or on others.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "proto/served_session.h"
#include "serving/live_sessions.h"
#include "serving/quotas.h"

namespace burn::serving {

class CallPerformer;

// The thread that executes a call: the session's, or the caller's if no call waits and this one takes only
// microseconds, which saves waking the other thread. Callbacks are then called within the call.
enum class Execution { session_thread, caller_if_quick };

class QueuedSession : public proto::ServedSession, public LiveSession {
 public:
  static std::unique_ptr<QueuedSession> make(std::unique_ptr<CallPerformer> performer, const Quotas& quotas,
                                             Execution execution);

  // An ordered call like define(), for a program that could not be decoded: its runs fail with `why`, and so do their
  // outputs.
  virtual Status define_invalid(proto::ProgramId id, std::size_t output_count, Status why,
                                std::vector<proto::ProgramId> forget) = 0;
};

}  // namespace burn::serving
