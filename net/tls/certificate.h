// Reads a certificate's names and dates.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "net/tls/openssl.h"

namespace burn::net::tls {

// The name of a certificate, or of its issuer, for error messages, in quotes: its CN, or else the whole subject.
std::string subject_of(const X509* certificate);
std::string issuer_of(const X509* certificate);

std::chrono::system_clock::time_point not_after(const X509* certificate);
// "2026-11-25 19:00:00 UTC"
std::string date_text(const ASN1_TIME* time);

// The names that the certificate is for: "uri:spiffe://lab/vision", "dns:worker.lab", "ip:10.0.0.1", "email:a@b", then
// "cn:alice", and last "sha256:" with the fingerprint in 64 digits. Names with control characters are left out.
std::vector<std::string> names_of(const X509* certificate);
// The same for a certificate in PEM; empty for a text that is not one.
std::vector<std::string> names_of_pem(std::string_view pem);

// Checks that the certificate is for `host`, a name or a numeric address, by its subjectAltName alone; the CN does not
// count. Errors: UNAVAILABLE with the names that it is for.
Status check_host(X509* certificate, const std::string& host);
Status check_host_of_pem(std::string_view pem, const std::string& host);

// Whether `host` is a numeric address, not a name.
bool is_address(const std::string& host);

}  // namespace burn::net::tls
