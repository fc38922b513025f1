#include "net/dial/grpc_tls.h"

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>

#include "net/tls/certificate.h"

namespace burn::net {
namespace {

namespace experimental = grpc::experimental;

// Called after gRPC has verified the chain.
class HostVerifier final : public experimental::ExternalCertificateVerifier {
 public:
  explicit HostVerifier(std::string host) : host_(std::move(host)) {}

  bool Verify(experimental::TlsCustomVerificationCheckRequest* request, std::function<void(grpc::Status)> /*later*/,
              grpc::Status* now) override {
    const auto pem = request->peer_cert();
    const auto status = tls::check_host_of_pem({pem.data(), pem.size()}, host_);
    *now = {static_cast<grpc::StatusCode>(status.code()), status.message()};
    return true;
  }
  void Cancel(experimental::TlsCustomVerificationCheckRequest* /*request*/) override {}

 private:
  const std::string host_;
};

}  // namespace

std::shared_ptr<grpc::ChannelCredentials> grpc_channel_credentials(const GrpcTls& tls) {
  if (!tls.identity) return grpc::InsecureChannelCredentials();
  const auto& identity = *tls.identity;
  std::vector<experimental::IdentityKeyCertPair> shown;
  if (!identity.chain().empty())
    shown.push_back({.private_key = identity.key(), .certificate_chain = identity.chain()});
  experimental::TlsChannelCredentialsOptions options;
  if (!identity.ca().empty() || !shown.empty()) {
    options.set_certificate_provider(
        std::make_shared<experimental::StaticDataCertificateProvider>(identity.ca(), shown));
  }
  if (!identity.ca().empty()) options.watch_root_certs();
  if (!shown.empty()) options.watch_identity_key_cert_pairs();
  options.set_check_call_host(false);
  options.set_certificate_verifier(experimental::ExternalCertificateVerifier::Create<HostVerifier>(tls.host));
  return experimental::TlsCredentials(options);
}

}  // namespace burn::net
