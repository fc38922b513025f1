#include "net/tls/server_tls.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/write_all.h"

namespace burn::net::tls {
namespace {

Status no_memory_file() {
  return unavailable("there is no file in memory for TLS: " + std::generic_category().message(errno));
}

}  // namespace

// The new file replaces the old one's descriptor atomically, so that no reader sees a partial text.
Status MemoryFile::set(const std::string& text) {
  UniqueFd next{::memfd_create("burn-tls", MFD_CLOEXEC)};
  if (!next || !write_all(next.get(), text)) return no_memory_file();
  const std::int64_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  changed_ = std::max(now, changed_ + 1);
  const std::array<timespec, 2> times{timespec{.tv_sec = changed_, .tv_nsec = 0},
                                      timespec{.tv_sec = changed_, .tv_nsec = 0}};
  if (::futimens(next.get(), times.data()) != 0) return no_memory_file();
  if (!file_) {
    file_ = std::move(next);
  } else if (::dup3(next.get(), file_.get(), O_CLOEXEC) < 0) {
    return no_memory_file();
  }
  return {};
}

std::string MemoryFile::path() const { return fmt::format("/proc/self/fd/{}", file_.get()); }

Result<std::shared_ptr<ServerTls>> ServerTls::open(ServerFiles files) {
  const std::shared_ptr<ServerTls> tls{new ServerTls{std::move(files)}};
  BURN_RETURN_IF_ERROR(tls->reload());
  return tls;
}

std::shared_ptr<const ServerIdentity> ServerTls::current() const {
  const std::lock_guard lock{mutex_};
  return identity_;
}

ServerTls::Stamps ServerTls::stamps() const {
  const auto of = [](const std::string& path) { return path.empty() ? FileStamp{} : stamp_of(path); };
  return {of(files_.certificate), of(files_.key), of(files_.client_ca)};
}

Status ServerTls::reload() {
  const std::lock_guard lock{mutex_};
  return read();
}

std::optional<Status> ServerTls::reload_if_changed() {
  const std::lock_guard lock{mutex_};
  if (stamps() == read_) return std::nullopt;
  return read();
}

// Stamps are taken before reading: files replaced meanwhile either do not match each other, or count as changed at the
// next check.
Status ServerTls::read() {
  read_ = stamps();
  BURN_TRY(auto identity, ServerIdentity::read(files_));
  BURN_RETURN_IF_ERROR(key_and_chain_.set(identity->key_and_chain()));
  if (!identity->client_ca().empty()) BURN_RETURN_IF_ERROR(client_ca_.set(identity->client_ca()));
  identity_ = std::move(identity);
  return {};
}

}  // namespace burn::net::tls
