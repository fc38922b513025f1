// Which clients get a session: those that authenticate, as long as the limits on sessions leave room for one.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <string>

#include "base/status.h"
#include "daemon/tokens.h"
#include "net/listen/permits.h"

namespace burn::daemon {

// Thread-safe.
class AdmissionControl {
 public:
  static constexpr net::PermitLimits kUnlimited{.all = std::numeric_limits<std::size_t>::max(),
                                                .per_peer = std::numeric_limits<std::size_t>::max()};

  // `token_file`: as Tokens has it; tokens().reload() reads it. `sessions`: at once, in all and of one peer.
  explicit AdmissionControl(std::string token_file = {}, const net::PermitLimits& sessions = kUnlimited);

  // Errors: UNAUTHENTICATED.
  Status authenticate(const std::string& token) const;
  // A permit for a session of `peer` (as Channel::peer() names it), counted until its last copy is dropped; a session
  // holds it until its memory is free.
  // Errors: UNAUTHENTICATED; RESOURCE_EXHAUSTED when a limit is reached or the process has no memory for a session.
  Result<net::Permit> admit(const std::string& token, const std::string& peer) const;

  Tokens& tokens() { return tokens_; }
  // Permits that are held.
  std::size_t sessions() const { return sessions_->taken(); }

 private:
  Tokens tokens_;
  const std::shared_ptr<net::PermitPool> sessions_;
};

}  // namespace burn::daemon
