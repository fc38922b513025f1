// Which clients get a session: those that authenticate, as long as the limits on sessions leave room for one.
#pragma once

#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>

#include "base/status.h"
#include "daemon/service_options.h"
#include "daemon/tenants.h"
#include "daemon/tokens.h"
#include "net/listen/permits.h"
#include "net/serve/session_host.h"

namespace burn::daemon {

// By what clients prove which they are.
struct Credentials {
  std::string token_file = {};         // as Tokens has it
  std::string tenant_file = {};        // as Tenants has it
  bool requires_certificates = false;  // of clients over TLS
};

Credentials credentials_of(const ServiceOptions& options);

// Thread-safe.
class AdmissionControl {
 public:
  static constexpr net::PermitLimits kUnlimited{.all = std::numeric_limits<std::size_t>::max(),
                                                .per_peer = std::numeric_limits<std::size_t>::max()};

  // Nothing is known before reload(). `sessions`: at once, in all and of one peer.
  AdmissionControl(const Credentials& credentials, const net::PermitLimits& sessions);
  explicit AdmissionControl(const std::string& token_file = {}, const net::PermitLimits& sessions = kUnlimited)
      : AdmissionControl(Credentials{.token_file = token_file}, sessions) {}

  // What reload() would say.
  Status check() const;
  // Reads the files again. Errors, after which all is as it was: Tokens::reload()'s, Tenants::reload()'s.
  Status reload();
  // Whether a client has to prove which it is, over any transport.
  bool is_open() const { return !tokens_.are_required() && !tenants_.are_used() && !requires_certificates_; }

  // Which client it is, by its token or its certificate. Without tenants all are of the tenant "default". Errors:
  // UNAUTHENTICATED; PERMISSION_DENIED for a tenant that is disabled, and where the two are of different tenants.
  Result<net::Identity> identify(const std::string& token, const proto::PeerSecurity& security) const;
  // The same of a client that has a token alone.
  Status authenticate(const std::string& token) const { return identify(token, {}).status(); }
  // A permit for a session of `peer` (as Channel::peer() names it), counted until its last copy is dropped; a session
  // holds it until its memory is free.
  // Errors: identify()'s; UNAVAILABLE after begin_drain(); RESOURCE_EXHAUSTED when a limit is reached or the process
  // has no memory for a session.
  Result<net::Permit> admit(const std::string& token, const std::string& peer) const;
  Result<net::Admission> admit(const std::string& token, const net::Caller& caller) const;

  // New sessions are refused from now on, with UNAVAILABLE, as the server is to end.
  void begin_drain() { is_draining_ = true; }
  bool is_draining() const { return is_draining_; }

  Tokens& tokens() { return tokens_; }
  const Tenants& tenants() const { return tenants_; }
  // Permits that are held.
  std::size_t sessions() const { return sessions_->taken(); }

 private:
  Status check_certificate(const proto::PeerSecurity& security) const;

  Tokens tokens_;
  Tenants tenants_;
  const bool requires_certificates_;
  std::atomic<bool> is_draining_ = false;
  const std::shared_ptr<net::PermitPool> sessions_;
};

}  // namespace burn::daemon
