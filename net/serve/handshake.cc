#include "net/serve/handshake.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/one_line.h"
#include "ir/catalogue.h"
#include "proto/verbs.h"

namespace burn::net {

Result<const proto::Hello*> Handshake::read(const proto::Body& first) {
  const auto* hello = std::get_if<proto::Hello>(&first);
  if (!hello) {
    return failed_precondition(fmt::format("the first frame must be a hello, not a {}", proto::name(first)));
  }
  if (hello->version != proto::kProtocolVersion) {
    return failed_precondition(
        fmt::format("client speaks protocol {}, this server {}", hello->version, proto::kProtocolVersion));
  }
  return hello;
}

Result<std::shared_ptr<ServedConversation>> Handshake::open(const Status& full) const {
  BURN_RETURN_IF_ERROR(check_room(full));
  BURN_TRY(auto admission, host_.admit(hello_, caller_));
  BURN_TRY(const auto device, host_.device_of(hello_));  // after admit(): the error names devices
  BURN_TRY(auto terms, host_.leases().terms(hello_.lease_seconds));
  if (admission.max_lease) terms.lease = std::min(terms.lease, *admission.max_lease);
  terms.admission = std::move(admission.permit);
  terms.tenant = admission.identity.tenant;
  terms.proof = admission.identity.proof;
  BURN_TRY(auto session, open_session(admission.identity));
  auto conversation = std::make_shared<ServedConversation>(std::move(session), std::move(terms));
  log_opened(conversation->terms().name, device, admission.identity);
  return conversation;
}

Result<std::shared_ptr<ServedConversation>> Handshake::resume(const proto::Resume& resume) const {
  BURN_TRY(const auto identity, host_.authenticate(hello_, caller_));
  BURN_TRY(auto found, host_.leases().find(resume));
  if (found->terms().tenant != identity.tenant) return not_found(std::string{Leases::kNoSession});
  return found;
}

proto::Welcome Handshake::welcome(const ServedConversation& conversation) const {
  const auto& terms = conversation.terms();
  proto::Welcome welcome{proto::kProtocolVersion, ir::op_set_fingerprint(), conversation.info()};
  welcome.info.session = terms.name;
  welcome.info.devices = host_.devices();
  welcome.info.instance = host_.instance();
  welcome.info.role = host_.role();
  welcome.lease_seconds = static_cast<std::uint32_t>(terms.lease.count());
  welcome.secret = terms.secret;
  welcome.extensions = proto::kExtensions;
  welcome.advertised = host_.advertised();
  return welcome;
}

// A client that does not authenticate must not learn how many others there are.
Status Handshake::check_room(const Status& full) const {
  if (full.ok()) return {};
  BURN_RETURN_IF_ERROR(host_.authenticate(hello_, caller_).status());
  return full;
}

Result<std::unique_ptr<proto::ServedSession>> Handshake::open_session(const Identity& identity) const {
  auto session = host_.open_session_of(hello_, identity);
  BURN_RETURN_IF_ERROR(session->health());
  return session;
}

void Handshake::log_opened(const std::string& session, const std::string& device, const Identity& identity) const {
  const auto tenant = identity.tenant == Identity{}.tenant ? std::string{} : fmt::format(" for {}", identity.tenant);
  host_.log(Severity::info, fmt::format("session {} opened from {} ({}) on {}{}", session, caller_.address,
                                        quoted(hello_.client), device, tenant));
  host_.audit({.kind = SessionEvent::Kind::opened,
               .session = session,
               .identity = &identity,
               .peer = caller_.address,
               .client = hello_.client,
               .device = device});
  const auto ours = ir::op_set_fingerprint();
  if (hello_.fingerprint == 0 || hello_.fingerprint == ours) return;
  host_.log(Severity::warning, fmt::format("session {}: the client's op set ({:016x}) differs from ours ({:016x})",
                                           session, hello_.fingerprint, ours));
}

}  // namespace burn::net
