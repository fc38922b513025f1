// Admission control: decides which clients get a session. A client must authenticate, and the limits on sessions must
// have room for one more.
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

// How clients have to prove their identity.
struct Credentials {
  std::string token_file = {};         // see Tokens; empty: no token is required
  std::string tenant_file = {};        // see Tenants; empty: there are no tenants
  bool requires_certificates = false;  // clients that connect over TLS have to present one
};

Credentials credentials_of(const ServiceOptions& options);

// Thread-safe.
class AdmissionControl {
 public:
  static constexpr net::PermitLimits kUnlimited{.all = std::numeric_limits<std::size_t>::max(),
                                                .per_peer = std::numeric_limits<std::size_t>::max()};

  // No token and no tenant is known before reload(). `sessions`: how many sessions may exist at a time, in total and
  // for each peer.
  AdmissionControl(const Credentials& credentials, const net::PermitLimits& sessions);
  explicit AdmissionControl(const std::string& token_file = {}, const net::PermitLimits& sessions = kUnlimited)
      : AdmissionControl(Credentials{.token_file = token_file}, sessions) {}

  // The status that reload() would return; changes nothing.
  Status check() const;
  // Reads the files again. Errors, after which nothing has changed: those of Tokens::reload() and Tenants::reload().
  Status reload();
  // True if clients need no proof of identity: neither tokens, nor tenants, nor client certificates are in use.
  bool is_open() const { return !tokens_.are_required() && !tenants_.are_used() && !requires_certificates_; }

  // Identifies a client by its token or certificate. Without tenants every client belongs to the tenant "default".
  // Errors: UNAUTHENTICATED; PERMISSION_DENIED for a tenant that is disabled, and where token and certificate belong to
  // different tenants.
  Result<net::Identity> identify(const std::string& token, const proto::PeerSecurity& security) const;
  // The same for a client that has only a token.
  Status authenticate(const std::string& token) const { return identify(token, {}).status(); }
  // Returns a permit for a session of `peer` (as Channel::peer() names it). The session is counted until the last copy
  // of the permit is dropped; a session holds its permit until its memory is free.
  // Errors: those of identify(); UNAVAILABLE after begin_drain(); RESOURCE_EXHAUSTED when a limit is reached or the
  // process has no memory for another session.
  Result<net::Permit> admit(const std::string& token, const std::string& peer) const;
  Result<net::Admission> admit(const std::string& token, const net::Caller& caller) const;

  // Refuses new sessions with UNAVAILABLE from now on, because the server is shutting down.
  void begin_drain() { is_draining_ = true; }
  bool is_draining() const { return is_draining_; }

  Tokens& tokens() { return tokens_; }
  const Tenants& tenants() const { return tenants_; }
  // The number of permits that are held.
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
