// How many sessions, connections and threads a daemon takes: from its options and from what the system lets the process
// have.
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
  // `free_descriptors`: that the process may still open.
  explicit ResourceLimits(const ServiceOptions& options, std::size_t free_descriptors = net::free_descriptors());

  // Sessions at once, for AdmissionControl.
  static net::PermitLimits sessions(const ServiceOptions& options);

  // Connections at once, of all listeners: a quarter and 16 more than sessions, for clients that are in their handshake
  // or leaving, but not more than there are descriptors for. A connection takes one descriptor, of gRPC two more for
  // each of its listeners. Where one peer may not have all sessions it may not have all connections either,
  // but three quarters of them where there are tenants.
  net::PermitLimits connections() const { return connections_; }
  // A line for the log when the descriptors allow fewer connections than the options ask for; else empty.
  const std::string& warning() const { return warning_; }

  // Threads that are started before the first client connects: loops, timers and housekeeping of ours, and for gRPC
  // those of its library, some of which are one for each core of the machine.
  static int threads_at_start(const ServiceOptions& options);

 private:
  net::PermitLimits connections_;
  std::string warning_;
};

}  // namespace burn::daemon
