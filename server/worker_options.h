// Converts ServerOptions for the parts of a worker, and from command line options.
#pragma once

#include <memory>

#include "daemon/options.h"
#include "daemon/service_options.h"
#include "server/server.h"
#include "server/worker_host.h"

namespace burn::server {

// The options that a worker shares with every daemon.
daemon::ServiceOptions service_options(const ServerOptions& options);

// Opens the devices. Throws Error: NOT_FOUND for a device that does not exist, listing those that do; INVALID_ARGUMENT
// or UNAVAILABLE for a collective address that is malformed, or not this machine's.
std::shared_ptr<WorkerHost> open_worker(const ServerOptions& options);

// burn-server's options, from values of daemon/options.def.
ServerOptions server_options(const daemon::OptionValues& values);

}  // namespace burn::server
