// What a worker computes on each of its devices before it serves clients.
#pragma once

#include "base/status.h"
#include "server/worker_host.h"

namespace burn::server {

// Runs a program of two nodes on every device, and looks at the numbers; those of a
// device that computes none ("null") are not looked at. Errors: what went wrong, with the name of the device; INTERNAL
// with both numbers where a device computes others, DEADLINE_EXCEEDED where one does not answer within a minute.
Status try_devices(const WorkerHost& host);

}  // namespace burn::server
