#include "net/tls/certificate.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/one_line.h"

namespace burn::net::tls {
namespace {

using NamesPtr = std::unique_ptr<GENERAL_NAMES, Free<&GENERAL_NAMES_free>>;

std::string_view bytes_of(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(::ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(::ASN1_STRING_length(text))};
}

bool is_clean(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
}

std::string common_name(const X509_NAME* name) {
  const int at = ::X509_NAME_get_index_by_NID(name, NID_commonName, -1);
  if (at < 0) return {};
  return std::string{bytes_of(::X509_NAME_ENTRY_get_data(::X509_NAME_get_entry(name, at)))};
}

std::string describe(const X509_NAME* name) {
  auto text = common_name(name);
  if (text.empty()) {
    std::array<char, 256> line{};
    ::X509_NAME_oneline(name, line.data(), static_cast<int>(line.size()));
    text = line.data();
  }
  return quoted(text);
}

std::string address_text(std::string_view bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = bytes.size() == sizeof(in_addr) ? AF_INET : AF_INET6;
  if (family == AF_INET6 && bytes.size() != sizeof(in6_addr)) return {};
  ::inet_ntop(family, bytes.data(), text.data(), text.size());
  return text.data();
}

void add_alternative_names(const X509* certificate, std::vector<std::string>& names) {
  const NamesPtr all{
      static_cast<GENERAL_NAMES*>(::X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr))};
  const auto add = [&](std::string_view kind, std::string_view name) {
    if (is_clean(name)) names.push_back(fmt::format("{}:{}", kind, name));
  };
  for (int i = 0; all && i < sk_GENERAL_NAME_num(all.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(all.get(), i);
    if (name->type == GEN_URI) add("uri", bytes_of(name->d.uniformResourceIdentifier));
    if (name->type == GEN_DNS) add("dns", bytes_of(name->d.dNSName));
    if (name->type == GEN_EMAIL) add("email", bytes_of(name->d.rfc822Name));
    if (name->type == GEN_IPADD) add("ip", address_text(bytes_of(name->d.iPAddress)));
  }
}

CertificatePtr parse(std::string_view pem) {
  const BioPtr bytes{::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))};
  CertificatePtr certificate{::PEM_read_bio_X509(bytes.get(), nullptr, nullptr, nullptr)};
  ::ERR_clear_error();
  return certificate;
}

}  // namespace

std::string take_error() {
  const auto error = ::ERR_peek_last_error();
  ::ERR_clear_error();
  const char* reason = error == 0 ? nullptr : ::ERR_reason_error_string(error);
  return reason == nullptr ? "an error without a name" : reason;
}

std::string subject_of(const X509* certificate) { return describe(::X509_get_subject_name(certificate)); }
std::string issuer_of(const X509* certificate) { return describe(::X509_get_issuer_name(certificate)); }

std::chrono::system_clock::time_point not_after(const X509* certificate) {
  std::tm time{};
  if (::ASN1_TIME_to_tm(::X509_get0_notAfter(certificate), &time) != 1) return {};
  return std::chrono::system_clock::from_time_t(::timegm(&time));
}

std::string date_text(const ASN1_TIME* time) {
  std::tm parts{};
  if (::ASN1_TIME_to_tm(time, &parts) != 1) return "a date that cannot be read";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::vector<std::string> names_of(const X509* certificate) {
  std::vector<std::string> names;
  add_alternative_names(certificate, names);
  const auto common = common_name(::X509_get_subject_name(certificate));
  if (is_clean(common)) names.push_back("cn:" + common);
  std::array<unsigned char, 32> digest{};
  if (::X509_digest(certificate, ::EVP_sha256(), digest.data(), nullptr) == 1) {
    std::string text = "sha256:";
    for (const unsigned byte : digest) text += fmt::format("{:02x}", byte);
    names.push_back(std::move(text));
  }
  return names;
}

std::vector<std::string> names_of_pem(std::string_view pem) {
  const auto certificate = parse(pem);
  return certificate ? names_of(certificate.get()) : std::vector<std::string>{};
}

bool is_address(const std::string& host) {
  in6_addr bytes{};
  return ::inet_pton(AF_INET, host.c_str(), &bytes) == 1 || ::inet_pton(AF_INET6, host.c_str(), &bytes) == 1;
}

Status check_host(X509* certificate, const std::string& host) {
  constexpr unsigned kFlags = X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS;
  const int matches = is_address(host) ? ::X509_check_ip_asc(certificate, host.c_str(), kFlags)
                                       : ::X509_check_host(certificate, host.data(), host.size(), kFlags, nullptr);
  ::ERR_clear_error();
  if (matches == 1) return {};
  std::string names;
  for (const auto& name : names_of(certificate)) {
    const bool is_host = name.starts_with("dns:") || name.starts_with("ip:");
    if (is_host) names += (names.empty() ? "" : ", ") + name.substr(name.find(':') + 1);
  }
  if (names.empty()) names = "no host at all (it has no subjectAltName; its CN does not count)";
  return unavailable(fmt::format("the server's certificate is not for {}: it is for {}", host, one_line(names)));
}

Status check_host_of_pem(std::string_view pem, const std::string& host) {
  const auto certificate = parse(pem);
  return certificate ? check_host(certificate.get(), host) : unavailable("the server's certificate cannot be read");
}

}  // namespace burn::net::tls
