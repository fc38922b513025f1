// A client's session on one worker: calls are forwarded to it as they arrive, and its answers are returned unchanged.
#pragma once

#include <memory>

#include "net/remote/remote_session.h"
#include "proto/served_session.h"

namespace burn::router {

// `worker`: a session that never waits and ends with its connection (net::ConnectOptions::never_waits, lease_seconds
// 0). `info`: sent to the client; it must be known before the worker's welcome, so that nothing has to wait for that.
//
// Each call is one frame to the worker, in the order of the calls. A call counts as executed when the worker reports
// it. Programs are not decoded, and parts of uploads are forwarded as they arrive, as fast as the worker accepts them.
// When the worker is lost, or ends the session, every open call fails with the reason, and so does the session
// (on_end()).
std::unique_ptr<proto::ServedSession> make_pass_through(std::unique_ptr<net::RemoteSession> worker,
                                                        proto::SessionInfo info);

}  // namespace burn::router
