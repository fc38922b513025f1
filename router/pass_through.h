// A client's session that one worker has: calls go on to it as they come, and its answers come back as they are.
#pragma once

#include <memory>

#include "net/remote/remote_session.h"
#include "proto/served_session.h"

namespace burn::router {

// `worker`: a session that never waits and ends with its connection (net::ConnectOptions::never_waits, lease_seconds
// 0). `info`: what the client is told; known before the worker's welcome, so that nothing waits for that. `use`: held
// until the session is gone.
//
// Each call is one frame to the worker, in the order of the calls. A call counts as executed when the worker says so.
// Programs are not decoded, and parts of uploads leave as they come, as fast as the worker takes them. When the worker
// is lost, or ends the session, every open call fails with why, and so does the session (on_end()).
std::unique_ptr<proto::ServedSession> make_pass_through(std::unique_ptr<net::RemoteSession> worker,
                                                        proto::SessionInfo info);

}  // namespace burn::router
