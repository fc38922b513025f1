// The rules by which TLS is spoken, as OpenSSL takes them: versions 1.2 and 1.3, ciphers that authenticate and have
// forward secrecy, no renegotiation, no tickets or sessions to resume (a session of ours outlives its connections
// anyway, and a ticket would outlive the right to come), no early data.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/status.h"
#include "net/tls/openssl.h"

namespace burn::net::tls {

enum class Role : unsigned char { client, server };

// What a peer may send before hands are shaken, its certificates among it.
inline constexpr std::size_t kMaxHandshakeBytes = std::size_t{128} << 10;
inline constexpr long kMaxCertificateBytes = 16 << 10;

// Errors: INTERNAL where OpenSSL has no memory, or refuses the rules.
Result<ContextPtr> make_context(Role role);
// Shows `chain`, the first with `key`. Errors: INVALID_ARGUMENT for a key or certificate that is too weak for OpenSSL.
Status show(SSL_CTX* context, const std::vector<CertificatePtr>& chain, EVP_PKEY* key);
// Trusts these issuers of the peer's certificates; a server tells its clients their names.
Status trust(SSL_CTX* context, const std::vector<CertificatePtr>& issuers, Role role);

}  // namespace burn::net::tls
