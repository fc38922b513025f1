// Descriptions of sessions, their limits and their resource usage.
#pragma once

#include <cstdint>

#include "backends/backend.h"
#include "proto/session.h"
#include "serving/quotas.h"
#include "session/worker.h"

namespace burn::session {

// The description of a new session, with a name that is unique in this process.
proto::SessionInfo describe_session(Worker& worker, const serving::Quotas& quotas);

// A hash that is equal for devices that compute bit-identical results of elementwise programs: of the version, the kind
// of the backend ("cpu", "cuda") and the class of its device.
std::uint64_t numerics_of(const backends::Backend& backend);

// The resource usage of all sessions on the worker's device.
proto::Usage usage_of(const Worker& worker);

}  // namespace burn::session
