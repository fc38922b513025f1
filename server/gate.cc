#include "server/gate.h"

#include "net/listen/headroom.h"

namespace burn::server {

Result<net::Place> Gate::admit(const std::string& token, const std::string& peer) const {
  if (!tokens_.is_known(token)) {
    return Status{StatusCode::unauthenticated,
                  token.empty() ? "a token is asked for here (BURN_TOKEN)" : "this token is not known here"};
  }
  if (!net::has_memory_for_more()) return resource_exhausted("the worker has no memory for another session");
  return sessions_->take(net::Peer::of(peer));
}

}  // namespace burn::server
