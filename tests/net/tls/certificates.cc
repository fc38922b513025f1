#include "tests/net/tls/certificates.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include "tests/net/support.h"

namespace burn::test {
namespace {

using net::tls::BioPtr;
using net::tls::CertificatePtr;
using net::tls::KeyPtr;

void require(bool is_fine) {
  if (is_fine) return;
  std::fprintf(stderr, "a test's certificate cannot be made\n");
  std::abort();
}

std::string text_of(const BioPtr& bytes) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bytes.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

void add_extension(X509* certificate, X509* issuer, int id, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
  require(extension != nullptr);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

Issued make(const CertificateRequest& request, const Issued* issuer) {
  static std::atomic<long> serial = 1;
  KeyPtr key{EVP_EC_gen("P-256")};
  CertificatePtr certificate{X509_new()};
  require(key && certificate);
  X509* const raw = certificate.get();
  X509_set_version(raw, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(raw), serial++);
  X509_gmtime_adj(X509_getm_notBefore(raw), static_cast<long>(request.from.count()));
  X509_gmtime_adj(X509_getm_notAfter(raw), static_cast<long>(request.until.count()));
  X509_set_pubkey(raw, key.get());
  const auto* name = reinterpret_cast<const unsigned char*>(request.common_name.c_str());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(raw), "CN", MBSTRING_UTF8, name, -1, -1, 0);
  X509* const from = issuer ? issuer->x509() : raw;
  X509_set_issuer_name(raw, X509_get_subject_name(from));
  add_extension(raw, from, NID_basic_constraints, request.is_authority ? "critical,CA:TRUE" : "CA:FALSE");
  if (!request.names.empty()) add_extension(raw, from, NID_subject_alt_name, request.names);
  require(X509_sign(raw, issuer ? issuer->private_key() : key.get(), EVP_sha256()) > 0);
  return {std::move(certificate), std::move(key)};
}

}  // namespace

std::string Issued::certificate() const {
  const BioPtr bytes{BIO_new(BIO_s_mem())};
  require(PEM_write_bio_X509(bytes.get(), certificate_.get()) == 1);
  return text_of(bytes);
}

std::string Issued::key() const {
  const BioPtr bytes{BIO_new(BIO_s_mem())};
  require(PEM_write_bio_PrivateKey(bytes.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return text_of(bytes);
}

Issued Issued::issue(const CertificateRequest& request) const { return make(request, this); }

Issued make_authority(const std::string& name) {
  return make({.common_name = name, .names = {}, .is_authority = true}, nullptr);
}

CertificateFolder::CertificateFolder() : folder_(temporary_path("certificates")) {
  std::filesystem::create_directories(folder_);
}
CertificateFolder::~CertificateFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string CertificateFolder::write(const std::string& name, const std::string& text) const {
  const auto next = path(name) + ".next";
  std::ofstream{next} << text;
  require(::chmod(next.c_str(), 0600) == 0);
  std::filesystem::rename(next, path(name));
  return path(name);
}

TestPki::TestPki() {
  server.client_ca = folder.write("ca.pem", authority.certificate());
  server.certificate = folder.path("server.pem");
  server.key = folder.path("server.key");
  show(authority.issue({}));
}

void TestPki::show(const Issued& issued) const {
  folder.write("server.pem", issued.certificate());
  folder.write("server.key", issued.key());
}

net::tls::ClientFiles TestPki::client(const Issued& issued) const {
  return {.ca = server.client_ca,
          .certificate = folder.write("client.pem", issued.certificate()),
          .key = folder.write("client.key", issued.key())};
}

}  // namespace burn::test
