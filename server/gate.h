// Who may have a session: whoever knows a token, if one is asked for, and finds a permit.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/status.h"
#include "net/listen/permits.h"
#include "server/tokens.h"

namespace burn::server {

// Thread-safe.
class Gate {
 public:
  Gate(std::string token_file, const net::PermitLimits& sessions)
      : tokens_(std::move(token_file)), sessions_(std::make_shared<net::PermitPool>("sessions", sessions)) {}

  // Errors: UNAUTHENTICATED.
  Status authenticate(const std::string& token) const;
  // `peer` as Channel::peer() has it. The permit is the session's, until its memory is free.
  // Errors: UNAUTHENTICATED; RESOURCE_EXHAUSTED when there is no permit for this peer, or no memory.
  Result<net::Permit> admit(const std::string& token, const std::string& peer) const;

  Tokens& tokens() { return tokens_; }
  std::size_t sessions() const { return sessions_->taken(); }

 private:
  Tokens tokens_;
  const std::shared_ptr<net::PermitPool> sessions_;
};

}  // namespace burn::server
