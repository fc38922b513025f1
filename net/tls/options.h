// The files of either end's TLS, in PEM.
#pragma once

#include <cstdint>
#include <string>

namespace burn::net::tls {

// A client's files.
struct ClientFiles {
  std::string ca;           // certificates of the trusted issuers; empty: the system's
  std::string certificate;  // the client's, followed by intermediate issuers; empty: none
  std::string key;          // of the certificate; empty: it is in the certificate's file

  friend bool operator==(const ClientFiles&, const ClientFiles&) = default;
};

// Whether clients authenticate with a certificate. off: none is requested. accepted: one is requested, and its names
// are known if the client has one. required: a client without one gets no session.
enum class ClientCertificates : std::uint8_t { off, accepted, required };

// A server's files.
struct ServerFiles {
  std::string certificate;  // the server's, followed by intermediate issuers, each of the one before
  std::string key;          // of the certificate; empty: it is in the certificate's file
  std::string client_ca;    // certificates of the issuers of clients' certificates; unused with `off`
  ClientCertificates client_certificates = ClientCertificates::off;
};

}  // namespace burn::net::tls
