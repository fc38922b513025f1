// Describes why TLS with a peer fails, in messages that distinguish the cases.
#include <cerrno>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "net/tls/certificate.h"
#include "net/tls/stream.h"

namespace burn::net::tls {
namespace {

constexpr int kHandshakeRecord = 22, kAlertRecord = 21;  // RFC 8446, section 5.1

// An HTTP answer, sent without encryption, for a browser or a WebSocket client without TLS.
constexpr std::string_view kPlainAnswer =
    "HTTP/1.1 400 This port speaks TLS\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

// Describes an alert that the peer sends about our certificate; empty for other alerts.
std::string_view certificate_alert(int reason) {
  switch (reason) {
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
      return "it does not trust its issuer";
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
      return "it has expired";
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
      return "it is revoked";
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_TLSV1_BAD_CERTIFICATE_STATUS_RESPONSE:
      return "it is not valid there";
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return "there is none";
    default:
      return {};
  }
}

bool is_about_version(int reason) {
  return reason == SSL_R_UNSUPPORTED_PROTOCOL || reason == SSL_R_TLSV1_ALERT_PROTOCOL_VERSION ||
         reason == SSL_R_NO_SHARED_CIPHER || reason == SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE ||
         reason == SSL_R_NO_PROTOCOLS_AVAILABLE;
}

}  // namespace

bool Stream::peer_speaks_tls() const { return first_byte_ == kHandshakeRecord || first_byte_ == kAlertRecord; }

int Stream::on_verified(int is_fine, X509_STORE_CTX* store) {
  if (is_fine == 1) return 1;
  const auto* ssl = static_cast<SSL*>(::X509_STORE_CTX_get_ex_data(store, ::SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto& stream = *static_cast<Stream*>(SSL_get_app_data(ssl));
  stream.verification_ = stream.failed_verification(store);
  return 0;
}

Status Stream::failed_verification(X509_STORE_CTX* store) const {
  X509* const certificate = ::X509_STORE_CTX_get_current_cert(store);
  const int error = ::X509_STORE_CTX_get_error(store);
  const bool is_first = ::X509_STORE_CTX_get_error_depth(store) == 0;
  const std::string_view peer = role_ == Role::client ? "server" : "client";
  const auto whose = is_first ? fmt::format("the {}'s certificate", peer)
                              : fmt::format("a certificate in the {}'s chain, {},", peer, subject_of(certificate));
  const std::string_view remedy = role_ == Role::client ? " (BURN_TLS_CA names the issuers that are)" : "";
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return unavailable(fmt::format("{} expired on {}", whose, date_text(::X509_get0_notAfter(certificate))));
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return unavailable(
          fmt::format("{} is not valid before {}", whose, date_text(::X509_get0_notBefore(certificate))));
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      return unavailable(
          fmt::format("{} is of {}, an issuer that is not trusted here{}", whose, issuer_of(certificate), remedy));
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return unavailable(
          fmt::format("{}, {}, is its own issuer and not trusted here{}", whose, subject_of(certificate), remedy));
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return check_host(certificate, host_);
    default:
      return unavailable(fmt::format("{} is not accepted: {}", whose, ::X509_verify_cert_error_string(error)));
  }
}

Status Stream::describe_failure() {
  const auto error = ::ERR_peek_error();
  const int reason = ERR_GET_LIB(error) == ERR_LIB_SSL ? ERR_GET_REASON(error) : 0;
  const auto text = take_error();
  const auto count = [&](HandshakeResult result) {
    if (server_ && !is_handshake_done_) server_->count(result);
  };
  if (!verification_.ok()) {
    count(HandshakeResult::bad_certificate);
    return verification_;
  }
  if (first_byte_ >= 0 && !peer_speaks_tls() && !is_handshake_done_) {
    count(HandshakeResult::plain_text);
    if (role_ == Role::client) return unavailable("the server speaks no TLS there (write ws:// or grpc://)");
    const auto* bytes = reinterpret_cast<const std::byte*>(kPlainAnswer.data());
    out_.assign(bytes, bytes + kPlainAnswer.size());  // instead of an alert
    out_begin_ = 0;
    return unavailable("the client speaks no TLS");
  }
  if (const auto why = certificate_alert(reason); !why.empty()) {
    count(HandshakeResult::refused_by_client);
    const bool is_client = role_ == Role::client;
    return unavailable(fmt::format("the {} refuses this {}'s certificate: {}{}", is_client ? "server" : "client",
                                   is_client ? "client" : "server", why, is_client ? " (BURN_TLS_CERT)" : ""));
  }
  if (is_about_version(reason)) {
    count(HandshakeResult::version);
    return unavailable(fmt::format("the {} speaks no TLS that is spoken here, which is 1.2 and 1.3 ({})",
                                   role_ == Role::client ? "server" : "client", text));
  }
  count(HandshakeResult::cut);
  if (handshake_bytes_ > kMaxHandshakeBytes && !is_handshake_done_)
    return unavailable(fmt::format("more than {} bytes came before TLS's handshake was done", kMaxHandshakeBytes));
  if (error == 0) {
    return unavailable(
        socket_error_ == 0 || socket_error_ == ECONNRESET || socket_error_ == EPIPE
            ? std::string{is_handshake_done_ ? "the peer went away" : "the peer went away while TLS began"}
            : std::generic_category().message(socket_error_));
  }
  return unavailable("TLS: " + text);
}

}  // namespace burn::net::tls
