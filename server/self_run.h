// A test program that a worker runs on each of its devices before it serves clients.
#pragma once

#include "base/status.h"
#include "server/worker_host.h"

namespace burn::server {

// Runs a program of two nodes on every device and checks the result, except on a device that computes nothing ("null").
// Errors: the device's own, with its name; INTERNAL with both numbers for a wrong result, DEADLINE_EXCEEDED if a device
// does not answer within a minute.
Status try_devices(const WorkerHost& host);

}  // namespace burn::server
