// The TLS settings of all connections, as an OpenSSL context: versions 1.2 and 1.3; ciphers that authenticate and have
// forward secrecy; no renegotiation; no tickets or session resumption (our sessions outlive connections anyway, and a
// ticket would outlive the right to connect); no early data.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/status.h"
#include "net/tls/openssl.h"

namespace burn::net::tls {

enum class Role : unsigned char { client, server };

// Bytes that a peer may send before the handshake is done, including its certificates.
inline constexpr std::size_t kMaxHandshakeBytes = std::size_t{128} << 10;
inline constexpr long kMaxCertificateBytes = 16 << 10;

// Errors: INTERNAL when OpenSSL has no memory, or rejects the settings.
Result<ContextPtr> make_context(Role role);
// Presents `chain`, whose first certificate belongs to `key`. Errors: INVALID_ARGUMENT for a key or certificate that is
// too weak for OpenSSL.
Status show(SSL_CTX* context, const std::vector<CertificatePtr>& chain, EVP_PKEY* key);
// Trusts these issuers of the peer's certificates; a server sends their names to clients.
Status trust(SSL_CTX* context, const std::vector<CertificatePtr>& issuers, Role role);

}  // namespace burn::net::tls
