#include "net/listen/listener.h"

namespace burn::net {

std::shared_ptr<Places> places_of(const ListenOptions& options) {
  if (options.places) return options.places;
  return std::make_shared<Places>("connections",
                                  PlaceLimits{.all = options.max_connections, .per_peer = options.max_connections});
}

}  // namespace burn::net
