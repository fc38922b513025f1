// Sockets that a service manager opened for this process, as systemd does for socket units (sd_listen_fds(3)).
#pragma once

#include "base/status.h"
#include "daemon/option_source.h"

namespace burn::daemon {

// Reads LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES from `variables` (in the form of environ). Returns a value
// "fd:NUMBER" for the option that each socket's name (FileDescriptorName=) denotes: ws, grpc, unix, grpc-unix or
// operator. Returns no values if the variables are not set or belong to another process. Errors: INVALID_ARGUMENT for a
// count that is not a number, and for a socket with an unknown or repeated name; the message lists the valid names.
Result<GivenOptions> read_inherited_sockets(const char* const* variables);

}  // namespace burn::daemon
