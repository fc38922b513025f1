#include "daemon/resource_limits.h"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

namespace burn::daemon {
namespace {

constexpr std::size_t kReservedDescriptors = 64;  // for plug-ins, caches, and what devices open
constexpr std::size_t kMinConnections = 4;        // even if there are too few descriptors

std::size_t descriptors_per_connection(const ServiceOptions& options) {
  return 1 + options.session_descriptors + (options.grpc.empty() ? 0 : 2) + (options.grpc_unix_path.empty() ? 0 : 2);
}

}  // namespace

ResourceLimits::ResourceLimits(const ServiceOptions& options, std::size_t free_descriptors) {
  const std::size_t usable = free_descriptors > kReservedDescriptors ? free_descriptors - kReservedDescriptors : 0;
  const std::size_t possible = std::max(usable / descriptors_per_connection(options), kMinConnections);
  const std::size_t wanted =
      options.max_connections > 0 ? options.max_connections : options.sessions + options.sessions / 4 + 16;
  if (wanted > possible) {
    warning_ = fmt::format("connections are limited to {}, not {}: there are descriptors for no more (ulimit -n)",
                           possible, wanted);
  }
  const auto all = std::min(wanted, possible);
  const bool are_shared = options.sessions_per_peer < options.sessions;
  const auto per_peer_at_most = are_shared ? std::max<std::size_t>(all * 3 / 4, 1) : all;
  // A tenant may be allowed more sessions per peer, and the tenant of a new connection is not known yet.
  const auto per_peer = options.tenant_file.empty() ? options.sessions_per_peer + 16 : all;
  connections_ = net::with_room_for_operators(all, std::min(per_peer, per_peer_at_most));
}

net::PermitLimits ResourceLimits::sessions(const ServiceOptions& options) {
  return net::with_room_for_operators(options.sessions, options.sessions_per_peer);
}

int ResourceLimits::threads_at_start(const ServiceOptions& options) {
  constexpr int kOurs = 10, kGrpc = 6;
  const bool serves_grpc = !options.grpc.empty() || !options.grpc_unix_path.empty();
  return kOurs + (options.operator_address.empty() ? 0 : 1) +
         (serves_grpc ? kGrpc + static_cast<int>(::sysconf(_SC_NPROCESSORS_CONF)) : 0);
}

}  // namespace burn::daemon
