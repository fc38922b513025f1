#include "daemon/tls_options.h"

#include <string_view>

#include <fmt/format.h>

#include "base/one_line.h"

namespace burn::daemon {
namespace {

using net::tls::ClientCertificates;

Result<ClientCertificates> client_certificates(std::string_view text) {
  if (text == "off") return ClientCertificates::off;
  if (text == "accepted") return ClientCertificates::accepted;
  if (text == "required") return ClientCertificates::required;
  return invalid_argument(fmt::format("client-certificates: off, accepted or required, not {}", quoted(text)));
}

}  // namespace

Result<net::tls::ServerFiles> tls_options(const OptionValues& values) {
  net::tls::ServerFiles files{.certificate = values.text(Option::tls_cert),
                              .key = values.text(Option::tls_key),
                              .client_ca = values.text(Option::tls_client_ca)};
  BURN_TRY(files.client_certificates, client_certificates(values.text(Option::client_certificates)));
  const bool asks = files.client_certificates != ClientCertificates::off;
  const auto needs = [](std::string_view option, std::string_view other) {
    return invalid_argument(fmt::format("{} needs {}", option, other));
  };
  if (files.certificate.empty() && !files.key.empty()) return needs("tls-key", "tls-cert");
  if (files.certificate.empty() && !files.client_ca.empty()) return needs("tls-client-ca", "tls-cert");
  if (files.certificate.empty() && asks) return needs("client-certificates", "tls-cert");
  if (files.client_ca.empty() && asks) return needs("client-certificates", "tls-client-ca");
  return files;
}

}  // namespace burn::daemon
