// The certificates that each end of TLS presents and trusts, read from files and checked. Only this code reads the
// files.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/status.h"
#include "net/tls/openssl.h"
#include "net/tls/options.h"

namespace burn::net::tls {

// A server's identity. Immutable: a connection keeps the identity that it began with.
class ServerIdentity {
 public:
  // Errors: NOT_FOUND for a file that cannot be read; INVALID_ARGUMENT for a key that others may read, a key that does
  // not belong to the certificate, a certificate that has expired or is not valid yet, a chain that is out of order, a
  // file without a certificate.
  static Result<std::shared_ptr<const ServerIdentity>> read(const ServerFiles& files);

  SSL_CTX* context() const { return context_.get(); }
  // In PEM, for transports with their own TLS: the key followed by the chain; the issuers of clients' certificates,
  // empty if those are not requested.
  const std::string& key_and_chain() const { return key_and_chain_; }
  const std::string& client_ca() const { return client_ca_; }
  const std::string& subject() const { return subject_; }  // in quotes
  std::chrono::system_clock::time_point not_after() const { return not_after_; }

 private:
  ServerIdentity() = default;

  ContextPtr context_;
  std::string key_and_chain_, client_ca_, subject_;
  std::chrono::system_clock::time_point not_after_;
};

// A client's identity. Immutable.
class ClientIdentity {
 public:
  // Errors: as above. Without a CA file the system's issuers are trusted; without a certificate none is presented.
  static Result<std::shared_ptr<const ClientIdentity>> read(const ClientFiles& files);

  SSL_CTX* context() const { return context_.get(); }
  // In PEM, for transports with their own TLS; empty where no file is named.
  const std::string& ca() const { return ca_; }
  const std::string& chain() const { return chain_; }
  const std::string& key() const { return key_; }

 private:
  ClientIdentity() = default;

  ContextPtr context_;
  std::string ca_, chain_, key_;
};

// The identity from these files, read again when one of them has changed. Thread-safe. Errors:
// ClientIdentity::read()'s.
Result<std::shared_ptr<const ClientIdentity>> client_identity(const ClientFiles& files);

}  // namespace burn::net::tls
