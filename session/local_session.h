// A session on a device of this process: its calls wait in a queue (serving/queued_session.h), and one thread at a time
// performs them on a Worker that several sessions share. burn-server makes one for each client session; burn::local
// gives it to the client directly.
#pragma once

#include <memory>
#include <string>

#include "serving/queued_session.h"
#include "serving/quotas.h"
#include "session/worker.h"

namespace burn::session {

using serving::Execution;
using serving::Quotas;
using LocalSession = serving::QueuedSession;

// The default address at which other members of a session's groups reach it: only from this machine.
inline constexpr const char* kLoopback = "127.0.0.1";

// `collective_host`: that address, numeric.
std::unique_ptr<LocalSession> make_local_session(std::shared_ptr<Worker> worker, const Quotas& quotas = {},
                                                 Execution execution = Execution::session_thread,
                                                 const std::string& collective_host = kLoopback);

}  // namespace burn::session
