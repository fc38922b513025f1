#include "net/tls/pem.h"

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "net/tls/certificate.h"

namespace burn::net::tls {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;

FileStamp stamp_of(const struct stat& info) {
  return {.device = info.st_dev,
          .inode = info.st_ino,
          .bytes = static_cast<std::uint64_t>(info.st_size),
          .changed = std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec};
}

BioPtr bytes_of(std::string_view pem) { return BioPtr{::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))}; }

// Called instead of asking for a passphrase, as a daemon has no terminal.
int no_passphrase(char* /*buffer*/, int /*size*/, int /*writes*/, void* was_asked) {
  *static_cast<bool*>(was_asked) = true;
  return -1;
}

}  // namespace

FileStamp stamp_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? stamp_of(info) : FileStamp{};
}

Result<std::string> read_pem_file(std::string_view what, const std::string& path, bool is_secret) {
  const auto cannot = [&](int error) {
    return not_found(
        fmt::format("the {} file {} cannot be read: {}", what, path, std::generic_category().message(error)));
  };
  const UniqueFd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0) return cannot(errno);
  if (!S_ISREG(info.st_mode)) return invalid_argument(fmt::format("the {} file {} is no regular file", what, path));
  if (is_secret && (info.st_mode & (S_IROTH | S_IWOTH)) != 0) {
    return invalid_argument(fmt::format("other users of this machine may read or change the {} file {}", what, path));
  }
  std::string text;
  std::array<char, 16 << 10> part;
  for (;;) {
    const auto count = ::read(file.get(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot(errno);
    if (count == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(count));
    if (text.size() > kMaxFileBytes) {
      return invalid_argument(fmt::format("the {} file {} has more than {} bytes", what, path, kMaxFileBytes));
    }
  }
}

Result<std::vector<CertificatePtr>> parse_certificates(std::string_view pem, const std::string& path) {
  std::vector<CertificatePtr> all;
  const auto bytes = bytes_of(pem);
  ::ERR_clear_error();
  while (CertificatePtr one{::PEM_read_bio_X509(bytes.get(), nullptr, nullptr, nullptr)}) all.push_back(std::move(one));
  const auto error = ::ERR_peek_last_error();
  ::ERR_clear_error();
  if (ERR_GET_LIB(error) != ERR_LIB_PEM || ERR_GET_REASON(error) != PEM_R_NO_START_LINE) {
    return invalid_argument(fmt::format("certificate {} in {} cannot be read", all.size() + 1, path));
  }
  if (all.empty()) return invalid_argument(fmt::format("there is no certificate in {}", path));
  return all;
}

Result<KeyPtr> parse_key(std::string_view pem, const std::string& path) {
  bool was_asked = false;
  const auto bytes = bytes_of(pem);
  KeyPtr key{::PEM_read_bio_PrivateKey(bytes.get(), nullptr, no_passphrase, &was_asked)};
  ::ERR_clear_error();
  if (key) return key;
  if (was_asked) return invalid_argument(fmt::format("the key in {} has a passphrase; write one without", path));
  return invalid_argument(fmt::format("there is no key in {}", path));
}

Status check_chain(const std::vector<CertificatePtr>& chain, const std::string& path, EVP_PKEY* key,
                   const std::string& key_path) {
  X509* first = chain.front().get();
  const auto subject = subject_of(first);
  if (::X509_check_private_key(first, key) != 1) {
    ::ERR_clear_error();
    return invalid_argument(
        fmt::format("the key in {} does not belong to the certificate {} in {}", key_path, subject, path));
  }
  if (::X509_cmp_current_time(::X509_get0_notAfter(first)) < 0) {
    return invalid_argument(
        fmt::format("the certificate {} in {} expired on {}", subject, path, date_text(::X509_get0_notAfter(first))));
  }
  if (::X509_cmp_current_time(::X509_get0_notBefore(first)) > 0) {
    return invalid_argument(fmt::format("the certificate {} in {} is not valid before {}", subject, path,
                                        date_text(::X509_get0_notBefore(first))));
  }
  for (std::size_t i = 1; i < chain.size(); ++i) {
    if (::X509_check_issued(chain[i].get(), chain[i - 1].get()) == X509_V_OK) continue;
    return invalid_argument(
        fmt::format("the chain in {} is not in order: certificate {}, {}, did not issue certificate {}, {}", path,
                    i + 1, subject_of(chain[i].get()), i, subject_of(chain[i - 1].get())));
  }
  return {};
}

}  // namespace burn::net::tls
