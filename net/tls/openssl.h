// Owners of OpenSSL objects, and access to its error queue.
#pragma once

#include <memory>
#include <string>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace burn::net::tls {

template <auto free>
struct Free {
  template <typename T>
  void operator()(T* object) const {
    free(object);
  }
};
using BioPtr = std::unique_ptr<BIO, Free<&BIO_free>>;
using CertificatePtr = std::unique_ptr<X509, Free<&X509_free>>;
using ContextPtr = std::unique_ptr<SSL_CTX, Free<&SSL_CTX_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Free<&EVP_PKEY_free>>;
using SslPtr = std::unique_ptr<SSL, Free<&SSL_free>>;

// Returns the last error of this thread's queue ("wrong version number"), and empties the queue.
std::string take_error();

}  // namespace burn::net::tls
