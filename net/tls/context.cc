#include "net/tls/context.h"

#include <fmt/format.h>
#include <openssl/err.h>

namespace burn::net::tls {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;  // read from the socket at once: a few records
constexpr const char* kCiphers12 = "ECDHE+AESGCM:ECDHE+CHACHA20";
// Limits on the names of issuers. A server sends names to clients up to the first: our clients accept 16 KiB of them.
// The second is for all trusted issuers: gRPC sends all names, and a TLS message has room for 64 KiB of them.
constexpr std::size_t kMaxNamedBytes = std::size_t{8} << 10, kMaxNameBytes = 60'000;
constexpr int kMaxDepth = 8;  // certificates in a chain

// Bytes that the names of issuers take in a message.
std::size_t name_bytes(const std::vector<CertificatePtr>& issuers) {
  std::size_t bytes = 0;
  for (const auto& issuer : issuers)
    bytes += static_cast<std::size_t>(::i2d_X509_NAME(::X509_get_subject_name(issuer.get()), nullptr)) + 2;
  return bytes;
}

}  // namespace

Result<ContextPtr> make_context(Role role) {
  ContextPtr context{::SSL_CTX_new(role == Role::server ? ::TLS_server_method() : ::TLS_client_method())};
  if (!context) return internal_error("TLS: " + take_error());
  SSL_CTX* const raw = context.get();
  ::SSL_CTX_set_options(raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_IGNORE_UNEXPECTED_EOF);
  ::SSL_CTX_set_mode(raw,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  ::SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  ::SSL_CTX_set_num_tickets(raw, 0);
  ::SSL_CTX_set_max_cert_list(raw, kMaxCertificateBytes);
  ::SSL_CTX_set_read_ahead(raw, 1);
  ::SSL_CTX_set_default_read_buffer_len(raw, kReadBytes);
  ::SSL_CTX_set_verify_depth(raw, kMaxDepth);
  if (::SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION) != 1 || ::SSL_CTX_set_cipher_list(raw, kCiphers12) != 1)
    return internal_error("TLS: " + take_error());
  return context;
}

Status show(SSL_CTX* context, const std::vector<CertificatePtr>& chain, EVP_PKEY* key) {
  bool is_fine = ::SSL_CTX_use_certificate(context, chain.front().get()) == 1;
  for (std::size_t i = 1; is_fine && i < chain.size(); ++i) {
    is_fine = ::SSL_CTX_add1_chain_cert(context, chain[i].get()) == 1;
  }
  is_fine = is_fine && ::SSL_CTX_use_PrivateKey(context, key) == 1;
  return is_fine ? Status{} : invalid_argument("TLS cannot be spoken with this certificate: " + take_error());
}

Status trust(SSL_CTX* context, const std::vector<CertificatePtr>& issuers, Role role) {
  X509_STORE* const store = ::SSL_CTX_get_cert_store(context);
  bool is_fine = true;
  const auto bytes = role == Role::server ? name_bytes(issuers) : 0;
  if (bytes > kMaxNameBytes) {
    return invalid_argument(
        fmt::format("the names of the {} issuers of clients' certificates have {} bytes, at most {} may be",
                    issuers.size(), bytes, kMaxNameBytes));
  }
  const bool names = role == Role::server && bytes <= kMaxNamedBytes;  // without names a client presents any it has
  for (const auto& issuer : issuers) {
    is_fine = is_fine && ::X509_STORE_add_cert(store, issuer.get()) == 1;
    if (names) is_fine = is_fine && ::SSL_CTX_add_client_CA(context, issuer.get()) == 1;
  }
  return is_fine ? Status{} : invalid_argument("an issuer's certificate cannot be used: " + take_error());
}

}  // namespace burn::net::tls
