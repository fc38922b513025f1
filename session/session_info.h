// What a session says of itself and its limits.
#pragma once

#include <cstdint>

#include "backends/backend.h"
#include "proto/session.h"
#include "serving/quotas.h"
#include "session/worker.h"

namespace burn::session {

// A new session's, with a name that no other of this process has.
proto::SessionInfo describe_session(Worker& worker, const serving::Quotas& quotas);

// A number that is equal for devices which compute elementwise programs to the same bits: a fingerprint of the version,
// the kind of the backend ("cpu", "cuda") and the class of its device.
std::uint64_t numerics_of(const backends::Backend& backend);

// What all sessions of the worker use of its device.
proto::Usage usage_of(const Worker& worker);

}  // namespace burn::session
