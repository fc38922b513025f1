// The numbers of sessions, connections and threads that a daemon accepts, from its options and from the limits of the
// process.
#pragma once

#include <cstddef>
#include <string>

#include "daemon/service_options.h"
#include "net/listen/permits.h"
#include "net/listen/process_limits.h"

namespace burn::daemon {

// Immutable.
class ResourceLimits {
 public:
  // `free_descriptors`: file descriptors that the process may still open.
  explicit ResourceLimits(const ServiceOptions& options, std::size_t free_descriptors = net::free_descriptors());

  // Concurrent sessions, for AdmissionControl.
  static net::PermitLimits sessions(const ServiceOptions& options);

  // Concurrent connections of all listeners: the number of sessions plus a quarter and 16, for clients that are in
  // their handshake or leaving, but no more than there are descriptors for. A connection takes one descriptor, and two
  // more for each gRPC listener. If one peer may not have all sessions, it may not have all connections either: at most
  // three quarters of them, and without tenants at most 16 more than `sessions_per_peer`.
  net::PermitLimits connections() const { return connections_; }
  // A line for the log if the descriptors allow fewer connections than the options ask for; otherwise empty.
  const std::string& warning() const { return warning_; }

  // Threads that are started before the first client connects: our event loops, timers and housekeeping, and for gRPC
  // the threads of its library, some of which exist once per core of the machine.
  static int threads_at_start(const ServiceOptions& options);

 private:
  net::PermitLimits connections_;
  std::string warning_;
};

}  // namespace burn::daemon
