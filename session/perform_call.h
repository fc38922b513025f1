// What a call does to a session's state, and whether it takes long.
#pragma once

#include <chrono>

#include "serving/calls.h"
#include "session/state.h"
#include "session/stream.h"

namespace burn::session {

// On the thread that executes the session's calls. `queued`: how long the call has waited for its turn.
void perform_call(serving::Call& call, SessionState& state, SessionStream& stream, std::chrono::nanoseconds queued);

// Whether the call would be over at once, as far as the last such call tells. Requires: the device is not behind.
bool is_quick(const serving::Call& call, const SessionState& state);

// Begins with what a call that has to wait for its turn will need. The call ends before the state does.
void prepare_ahead(serving::Call& call, const SessionState& state);

}  // namespace burn::session
