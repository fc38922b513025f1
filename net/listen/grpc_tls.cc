#include "net/listen/grpc_tls.h"

#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include "net/tls/certificate.h"
#include "net/tls/server_tls.h"

namespace burn::net {

namespace experimental = grpc::experimental;

std::shared_ptr<grpc::ServerCredentials> grpc_server_credentials(const tls::ServerTls* tls) {
  if (tls == nullptr) return grpc::InsecureServerCredentials();
  constexpr unsigned kLookSeconds = 1;
  const bool asks = tls->client_certificates() != tls::ClientCertificates::off;
  const auto path = tls->key_and_chain_path();
  experimental::TlsServerCredentialsOptions options{std::make_shared<experimental::FileWatcherCertificateProvider>(
      path, path, asks ? tls->client_ca_path() : std::string{}, kLookSeconds)};
  options.watch_identity_key_cert_pairs();
  if (asks) options.watch_root_certs();
  options.set_cert_request_type(asks ? GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY
                                     : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  options.set_check_call_host(false);
  // gRPC has already verified the chain; nothing else needs to be verified.
  options.set_certificate_verifier(std::make_shared<experimental::NoOpCertificateVerifier>());
  return experimental::TlsServerCredentials(options);
}

proto::PeerSecurity peer_security_of(const grpc::AuthContext& call, bool has_tls) {
  proto::PeerSecurity security{.is_encrypted = has_tls, .names = {}};
  if (!has_tls || !call.IsPeerAuthenticated()) return security;
  for (const auto& pem : call.FindPropertyValues("x509_pem_cert")) {
    security.names = tls::names_of_pem({pem.data(), pem.size()});
  }
  return security;
}

}  // namespace burn::net
