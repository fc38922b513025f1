// Sessions without a device: those on the device "status", which every daemon has, and those that could not be opened.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/status.h"
#include "proto/message.h"
#include "proto/served_session.h"

namespace burn::daemon {

// For a hello that names the device "status", "status:K" or "status:NAME": a copy that names the device which the
// status is about, by number, or by K or NAME. std::nullopt for any other hello.
std::optional<proto::Hello> status_subject(const proto::Hello& hello);

// A session that reports what a daemon uses, through stats(), and refuses all other calls with FAILED_PRECONDITION. It
// uses neither device memory nor a thread. `info`: describes the device that the status is about. `stats`: may be
// called from any thread.
std::unique_ptr<proto::ServedSession> make_status_session(proto::SessionInfo info,
                                                          std::function<proto::SessionStats()> stats);

// A session that could not be opened; health() returns `why`. Requires: !why.ok().
std::unique_ptr<proto::ServedSession> make_refused_session(Status why);

}  // namespace burn::daemon
