// Files in PEM: certificates and keys as they lie on disk, read and checked.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "net/tls/file_stamp.h"
#include "net/tls/openssl.h"

namespace burn::net::tls {

// The whole of a file of at most 1 MiB. `what`: "certificate", "key", "CA", for errors. A secret must not be readable
// or writable by others than its owner and group. Errors: NOT_FOUND; INVALID_ARGUMENT for a folder, a file that is too
// large, or a secret that is none.
Result<std::string> read_pem_file(std::string_view what, const std::string& path, bool is_secret);

// All certificates of a text, in its order. Errors: INVALID_ARGUMENT for a text that has none, or one that cannot be
// read. `path`: for errors.
Result<std::vector<CertificatePtr>> parse_certificates(std::string_view pem, const std::string& path);
// Errors: INVALID_ARGUMENT where there is no key, or an encrypted one.
Result<KeyPtr> parse_key(std::string_view pem, const std::string& path);

// That the certificates may be shown: the first is valid now and belongs to `key`, and each further one issued the one
// before. Errors: INVALID_ARGUMENT with the certificate's name, the file and the date.
Status check_chain(const std::vector<CertificatePtr>& chain, const std::string& path, EVP_PKEY* key,
                   const std::string& key_path);

}  // namespace burn::net::tls
