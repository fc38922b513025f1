// Reads and checks certificates and keys in PEM files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "net/tls/file_stamp.h"
#include "net/tls/openssl.h"

namespace burn::net::tls {

// Returns the contents of a file of at most 1 MiB. `what`: "certificate", "key", "CA", for errors. A secret must not be
// readable or writable by others than its owner and group. Errors: NOT_FOUND; INVALID_ARGUMENT for a folder, a file
// that is too large, or a secret with other permissions.
Result<std::string> read_pem_file(std::string_view what, const std::string& path, bool is_secret);

// Parses all certificates of a text, in order. Errors: INVALID_ARGUMENT for a text without certificates, or with one
// that cannot be parsed. `path`: for errors.
Result<std::vector<CertificatePtr>> parse_certificates(std::string_view pem, const std::string& path);
// Parses a key. Errors: INVALID_ARGUMENT if there is none, or it is encrypted.
Result<KeyPtr> parse_key(std::string_view pem, const std::string& path);

// Checks that the chain may be presented: the first certificate is valid now and belongs to `key`, and each further one
// issued the one before. Errors: INVALID_ARGUMENT with the certificate's name, the file and the date.
Status check_chain(const std::vector<CertificatePtr>& chain, const std::string& path, EVP_PKEY* key,
                   const std::string& key_path);

}  // namespace burn::net::tls
