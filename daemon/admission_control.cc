#include "daemon/admission_control.h"

#include <utility>

#include "net/listen/process_limits.h"

namespace burn::daemon {

AdmissionControl::AdmissionControl(std::string token_file, const net::PermitLimits& sessions)
    : tokens_(std::move(token_file)), sessions_(std::make_shared<net::PermitPool>("sessions", sessions)) {}

Status AdmissionControl::authenticate(const std::string& token) const {
  if (tokens_.is_known(token)) return {};
  return {StatusCode::unauthenticated,
          token.empty() ? "a token is asked for here (BURN_TOKEN)" : "this token is not known here"};
}

Result<net::Permit> AdmissionControl::admit(const std::string& token, const std::string& peer) const {
  BURN_RETURN_IF_ERROR(authenticate(token));
  if (!net::has_memory_for_connection()) return resource_exhausted("the worker has no memory for another session");
  return sessions_->take(net::Peer::of(peer));
}

}  // namespace burn::daemon
