// Certificates for tests: an authority in memory that issues what a test asks for, and files of it.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "net/tls/openssl.h"
#include "net/tls/options.h"

namespace burn::test {

struct CertificateRequest {
  std::string common_name = "server";
  std::string names = "DNS:localhost,IP:127.0.0.1,IP:::1";  // subjectAltName as OpenSSL writes it; empty: none
  std::chrono::seconds from{-3600}, until{3600};            // from now
  bool is_authority = false;
};

// A certificate and its key.
class Issued {
 public:
  Issued(net::tls::CertificatePtr certificate, net::tls::KeyPtr key)
      : certificate_(std::move(certificate)), key_(std::move(key)) {}

  std::string certificate() const;  // PEM
  std::string key() const;          // PEM
  X509* x509() const { return certificate_.get(); }
  EVP_PKEY* private_key() const { return key_.get(); }
  // Issues a certificate for a key of its own.
  Issued issue(const CertificateRequest& request) const;

 private:
  net::tls::CertificatePtr certificate_;
  net::tls::KeyPtr key_;
};

// Its own issuer.
Issued make_authority(const std::string& name = "test authority");

// A folder of files, removed with it.
class CertificateFolder {
 public:
  CertificateFolder();
  ~CertificateFolder();
  CertificateFolder(const CertificateFolder&) = delete;
  CertificateFolder& operator=(const CertificateFolder&) = delete;

  // Writes a file with mode 0600 and returns its path. One that is there is replaced at once.
  std::string write(const std::string& name, const std::string& text) const;
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  const std::string folder_;
};

// An authority, a server's files in a folder, and what a client needs to trust it.
struct TestPki {
  TestPki();
  // Replaces the server's files.
  void show(const Issued& issued) const;
  net::tls::ClientFiles client(const Issued& issued) const;  // with a certificate
  net::tls::ClientFiles client() const { return {.ca = server.client_ca, .certificate = {}, .key = {}}; }

  CertificateFolder folder;
  Issued authority = make_authority();
  net::tls::ServerFiles server;  // for localhost and 127.0.0.1; clients' certificates are not asked for
};

}  // namespace burn::test
