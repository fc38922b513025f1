// Sessions without a device: on the device "status", which every daemon has, and where there is none to be had.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/status.h"
#include "proto/message.h"
#include "proto/served_session.h"

namespace burn::daemon {

// For a hello that names the device "status": the same hello for the device that it asks about, which is the one of its
// number, or K or NAME of "status:K" and "status:NAME". Nothing for any other hello.
std::optional<proto::Hello> status_subject(const proto::Hello& hello);

// A session that tells what a daemon uses, by its stats, and refuses all other calls with FAILED_PRECONDITION. It takes
// neither memory nor a thread. `info`: of the device that it is about. `stats`: called from any thread.
std::unique_ptr<proto::ServedSession> make_status_session(proto::SessionInfo info,
                                                          std::function<proto::SessionStats()> stats);

// A session that could not be opened, as its health() says. Requires: !why.ok().
std::unique_ptr<proto::ServedSession> make_refused_session(Status why);

}  // namespace burn::daemon
