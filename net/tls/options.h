// Which files TLS is spoken with, by either end. PEM, as all tools write it.
#pragma once

#include <cstdint>
#include <string>

namespace burn::net::tls {

// A client's files.
struct ClientFiles {
  std::string ca;           // certificates of the issuers that are trusted; empty: those that the system trusts
  std::string certificate;  // what the client proves itself with, and the issuers between it and the root; empty: none
  std::string key;          // of the certificate; empty: it is in the certificate's file

  friend bool operator==(const ClientFiles&, const ClientFiles&) = default;
};

// Whether clients prove themselves with a certificate: it is not asked for; it is asked for, and its names are known of
// those that have one; a client without one gets no session.
enum class ClientCertificates : std::uint8_t { off, accepted, required };

// A server's files.
struct ServerFiles {
  std::string certificate;  // the server's, and behind it the issuers between it and the root, each of the one before
  std::string key;          // of the certificate; empty: it is in the certificate's file
  std::string client_ca;    // certificates of the issuers of clients' certificates; with `off` not used
  ClientCertificates client_certificates = ClientCertificates::off;
};

}  // namespace burn::net::tls
