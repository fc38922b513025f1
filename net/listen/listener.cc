#include "net/listen/listener.h"

namespace burn::net {

std::shared_ptr<PermitPool> permits_of(const ListenOptions& options) {
  if (options.permits) return options.permits;
  return std::make_shared<PermitPool>(
      "connections", PermitLimits{.all = options.max_connections, .per_peer = options.max_connections});
}

}  // namespace burn::net
