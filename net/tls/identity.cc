#include "net/tls/identity.h"

#include <mutex>
#include <utility>
#include <vector>

#include <openssl/ssl.h>

#include "base/fork.h"
#include "net/tls/certificate.h"
#include "net/tls/context.h"
#include "net/tls/pem.h"

namespace burn::net::tls {
namespace {

// What one end presents: a certificate with its issuers, and its key.
struct Shown {
  std::string chain, key;  // PEM
  std::vector<CertificatePtr> certificates;
  KeyPtr private_key;
};

Result<Shown> read_shown(const std::string& certificate, const std::string& key_file) {
  const bool is_one = key_file.empty() || key_file == certificate;
  const auto& key_path = is_one ? certificate : key_file;
  Shown shown;
  BURN_TRY(shown.chain, read_pem_file("certificate", certificate, is_one));
  BURN_TRY(shown.key, is_one ? Result<std::string>{shown.chain} : read_pem_file("key", key_path, true));
  BURN_TRY(shown.certificates, parse_certificates(shown.chain, certificate));
  BURN_TRY(shown.private_key, parse_key(shown.key, key_path));
  BURN_RETURN_IF_ERROR(check_chain(shown.certificates, certificate, shown.private_key.get(), key_path));
  return shown;
}

}  // namespace

Result<std::shared_ptr<const ServerIdentity>> ServerIdentity::read(const ServerFiles& files) {
  BURN_TRY(const auto shown, read_shown(files.certificate, files.key));
  const std::shared_ptr<ServerIdentity> identity{new ServerIdentity};
  BURN_TRY(identity->context_, make_context(Role::server));
  SSL_CTX* const context = identity->context_.get();
  BURN_RETURN_IF_ERROR(show(context, shown.certificates, shown.private_key.get()));
  identity->key_and_chain_ = shown.key == shown.chain ? shown.key : shown.key + "\n" + shown.chain;
  identity->subject_ = subject_of(shown.certificates.front().get());
  identity->not_after_ = tls::not_after(shown.certificates.front().get());
  if (files.client_certificates == ClientCertificates::off) return std::shared_ptr<const ServerIdentity>{identity};
  // Requested here, but required only with the hello, so that a client without one gets a readable error.
  BURN_TRY(identity->client_ca_, read_pem_file("client CA", files.client_ca, false));
  BURN_TRY(const auto issuers, parse_certificates(identity->client_ca_, files.client_ca));
  BURN_RETURN_IF_ERROR(trust(context, issuers, Role::server));
  ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  return std::shared_ptr<const ServerIdentity>{identity};
}

Result<std::shared_ptr<const ClientIdentity>> ClientIdentity::read(const ClientFiles& files) {
  const std::shared_ptr<ClientIdentity> identity{new ClientIdentity};
  BURN_TRY(identity->context_, make_context(Role::client));
  SSL_CTX* const context = identity->context_.get();
  ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  if (files.ca.empty()) {
    ::SSL_CTX_set_default_verify_paths(context);  // without any, no server is trusted, and connecting reports that
  } else {
    BURN_TRY(identity->ca_, read_pem_file("CA", files.ca, false));
    BURN_TRY(const auto issuers, parse_certificates(identity->ca_, files.ca));
    BURN_RETURN_IF_ERROR(trust(context, issuers, Role::client));
  }
  if (!files.certificate.empty()) {
    BURN_TRY(auto shown, read_shown(files.certificate, files.key));
    BURN_RETURN_IF_ERROR(show(context, shown.certificates, shown.private_key.get()));
    identity->chain_ = std::move(shown.chain);
    identity->key_ = std::move(shown.key);
  } else if (!files.key.empty()) {
    return invalid_argument("a key without its certificate: " + files.key);
  }
  return std::shared_ptr<const ClientIdentity>{identity};
}

Result<std::shared_ptr<const ClientIdentity>> client_identity(const ClientFiles& files) {
  struct Known {
    std::mutex mutex;
    ClientFiles files;
    std::vector<FileStamp> stamps;
    std::shared_ptr<const ClientIdentity> identity;
  };
  static auto& one = *new OnePerProcess<Known>;
  auto& known = one.get();
  const std::vector<FileStamp> stamps{stamp_of(files.ca), stamp_of(files.certificate), stamp_of(files.key)};
  const std::lock_guard lock{known.mutex};
  if (known.identity && known.files == files && known.stamps == stamps) return known.identity;
  BURN_TRY(auto identity, ClientIdentity::read(files));
  known.files = files;
  known.stamps = stamps;
  known.identity = identity;
  return identity;
}

}  // namespace burn::net::tls
