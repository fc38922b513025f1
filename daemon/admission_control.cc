#include "daemon/admission_control.h"

#include <utility>

#include <fmt/format.h>

#include "net/listen/process_limits.h"

namespace burn::daemon {
namespace {

Status unauthenticated(std::string message) { return {StatusCode::unauthenticated, std::move(message)}; }
Status permission_denied(std::string message) { return {StatusCode::permission_denied, std::move(message)}; }

// A short name for a token that may be written to logs: the first four bytes of its digest.
std::string short_digest(const std::string& token) {
  const auto digest = digest_of_token(token);
  return fmt::format("token {:02x}{:02x}{:02x}{:02x}", digest[0], digest[1], digest[2], digest[3]);
}

// The proof of identity of a client without a token: the first name of its certificate, or "none".
std::string proof_of(const proto::PeerSecurity& security) {
  return security.names.empty() ? "none" : "certificate " + security.names.front();
}

}  // namespace

Credentials credentials_of(const ServiceOptions& options) {
  return {.token_file = options.token_file,
          .tenant_file = options.tenant_file,
          .requires_certificates = options.requires_certificates()};
}

AdmissionControl::AdmissionControl(const Credentials& credentials, const net::PermitLimits& sessions)
    : tokens_(credentials.token_file),
      tenants_(credentials.tenant_file),
      requires_certificates_(credentials.requires_certificates),
      sessions_(std::make_shared<net::PermitPool>("sessions", sessions)) {}

Status AdmissionControl::check() const {
  BURN_RETURN_IF_ERROR(tokens_.check());
  return tenants_.check();
}

Status AdmissionControl::reload() {
  BURN_RETURN_IF_ERROR(tokens_.check());
  BURN_RETURN_IF_ERROR(tenants_.reload());
  return tokens_.reload();
}

Status AdmissionControl::check_certificate(const proto::PeerSecurity& security) const {
  if (!requires_certificates_ || !security.is_encrypted || !security.names.empty()) return {};
  return unauthenticated("a client certificate is asked for here (BURN_TLS_CERT, BURN_TLS_KEY)");
}

Result<net::Identity> AdmissionControl::identify(const std::string& token, const proto::PeerSecurity& security) const {
  BURN_RETURN_IF_ERROR(check_certificate(security));
  const bool is_of_file = tokens_.is_known(token);  // also true if there is no token file
  const auto found = tenants_.find(token, security);
  const auto* by = found.by_token ? found.by_token.get() : found.by_certificate.get();
  if (found.by_token && found.by_certificate && found.by_token != found.by_certificate) {
    return permission_denied(fmt::format("the token is of tenant {}, the certificate of tenant {}",
                                         found.by_token->name(), found.by_certificate->name()));
  }
  const bool has_tokens = tokens_.are_required() || tenants_.are_used();
  const bool is_known_token = found.by_token || (tokens_.are_required() && is_of_file);
  if (!token.empty() && has_tokens && !is_known_token) return unauthenticated("this token is not known here");
  if (by) {
    if (!by->is_admitted()) return permission_denied(fmt::format("tenant {} is disabled", by->name()));
    return net::Identity{.tenant = by->name(),
                         .proof = found.by_token ? short_digest(token) : "certificate " + found.certificate};
  }
  if (is_known_token) return net::Identity{.proof = short_digest(token)};
  if (tenants_.are_used() && !security.names.empty())
    return unauthenticated(fmt::format("the certificate is no tenant's: {}", security.names.front()));
  if (has_tokens) return unauthenticated("a token is asked for here (BURN_TOKEN)");
  return net::Identity{.proof = proof_of(security)};
}

Result<net::Permit> AdmissionControl::admit(const std::string& token, const std::string& peer) const {
  BURN_TRY(auto admission, admit(token, net::Caller{.address = peer}));
  return std::move(admission.permit);
}

Result<net::Admission> AdmissionControl::admit(const std::string& token, const net::Caller& caller) const {
  BURN_TRY(auto identity, identify(token, caller.security));
  if (is_draining_) return unavailable("the server is draining: it takes no new sessions, and ends");
  if (!net::has_memory_for_connection()) return resource_exhausted("the worker has no memory for another session");
  net::Admission admission{.identity = std::move(identity)};
  const auto tenant = tenants_.by_name(admission.identity.tenant);
  const auto rules = tenant ? tenant->rules() : nullptr;
  BURN_TRY(auto permit,
           sessions_->take(net::Peer::of(caller.address), rules ? rules->sessions_per_peer : std::nullopt));
  if (!tenant) {
    admission.permit = std::move(permit);
    return admission;
  }
  BURN_TRY(auto place, tenant->take_session());
  admission.permit = std::make_shared<std::pair<net::Permit, net::Permit>>(std::move(permit), std::move(place));
  if (rules) admission.max_lease = rules->session_lease;
  return admission;
}

}  // namespace burn::daemon
