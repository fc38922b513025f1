// What a session says of itself and its limits.
#pragma once

#include "proto/session.h"
#include "serving/quotas.h"
#include "session/worker.h"

namespace burn::session {

// A new session's, with a name that no other of this process has.
proto::SessionInfo describe_session(Worker& worker, const serving::Quotas& quotas);

}  // namespace burn::session
