// Sockets that a service manager has opened for this process, as systemd does for socket units (sd_listen_fds(3)).
#pragma once

#include "base/status.h"
#include "daemon/option_source.h"

namespace burn::daemon {

// By LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES of `variables` (as environ has them), as values "fd:NUMBER" of the
// options whose names the sockets have (FileDescriptorName=): ws, grpc, unix, grpc-unix, operator. None, if the
// variables are not there or are another process's. Errors: INVALID_ARGUMENT for a number that is none, and for a
// socket with another name or one that was there, with the names that there may be.
Result<GivenOptions> read_inherited_sockets(const char* const* variables);

}  // namespace burn::daemon
