// Performs calls on a session's state, and estimates whether they take long.
#pragma once

#include <chrono>

#include "serving/calls.h"
#include "session/state.h"
#include "session/stream.h"

namespace burn::session {

// Call on the thread that executes the session's calls. `queued`: how long the call has waited in the queue.
void perform_call(serving::Call& call, SessionState& state, SessionStream& stream, std::chrono::nanoseconds queued);

// Whether the call will probably take only microseconds, judging by the last such call. Requires: the device is not
// behind.
bool is_quick(const serving::Call& call, const SessionState& state);

// Starts preparing a waiting call on another thread. `call` must be destroyed before `state`.
void prepare_ahead(serving::Call& call, const SessionState& state);

}  // namespace burn::session
