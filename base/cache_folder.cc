#include "base/cache_folder.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/one_line.h"
#include "base/unique_fd.h"

namespace burn {
namespace {

constexpr mode_t kOthersMayWrite = S_IWGRP | S_IWOTH;

Status system_failure(const std::string& path, std::string_view what) {
  const int error = errno;
  auto message = path;
  message.append(": ").append(what).append(": ").append(std::system_category().message(error));
  if (error == ENOENT) return not_found(std::move(message));
  return failed_precondition(std::move(message));
}

Status unsafe(const std::string& path, std::string_view why) {
  return failed_precondition(std::string(path).append(": ").append(why));
}

Status check_owner(const struct stat& info, const std::string& path) {
  if (info.st_uid != ::geteuid()) {
    return unsafe(path, "belongs to user " + std::to_string(info.st_uid) + ", not to " + std::to_string(::geteuid()));
  }
  if ((info.st_mode & kOthersMayWrite) == 0) return {};
  std::array<char, 8> mode{};
  std::snprintf(mode.data(), mode.size(), "%04o", info.st_mode & 07777U);
  return unsafe(path, std::string("other users may write to it (mode ") + mode.data() + ")");
}

// `within`: the descriptor of the folder that relative paths start from.
Result<UniqueFd> open_folder(int within, const std::string& path, const std::string& shown, bool may_make) {
  constexpr mode_t kOurs = S_IRWXU;
  if (may_make && ::mkdirat(within, path.c_str(), kOurs) != 0 && errno != EEXIST)
    return system_failure(shown, "cannot be made");
  UniqueFd folder(::openat(within, path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder.get() < 0) return system_failure(shown, "cannot be opened as a folder");
  struct stat info {};
  if (::fstat(folder.get(), &info) != 0) return system_failure(shown, "cannot be looked at");
  BURN_RETURN_IF_ERROR(check_owner(info, shown));
  const bool is_open_to_others = (info.st_mode & (S_IRWXG | S_IRWXO)) != 0;
  if (is_open_to_others && ::fchmod(folder.get(), kOurs) != 0) return system_failure(shown, "cannot be made private");
  return folder;
}

Result<UniqueFd> open_folders(const std::filesystem::path& root, const std::string& sub, bool may_make) {
  if (root.empty()) return not_found("there is no folder to keep files in");
  if (may_make) {
    std::error_code ignored;  // opening the folder reports the failure
    std::filesystem::create_directories(root.parent_path(), ignored);
  }
  BURN_TRY(auto folder, open_folder(AT_FDCWD, root.string(), root.string(), may_make));
  if (sub.empty()) return folder;
  return open_folder(folder.get(), sub, (root / sub).string(), may_make);
}

Status write_all(int fd, std::string_view bytes, const std::string& shown) {
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return system_failure(shown, "cannot be written");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

std::string random_name() {
  std::array<std::uint64_t, 2> numbers{};
  if (::getrandom(numbers.data(), sizeof numbers, 0) != static_cast<ssize_t>(sizeof numbers)) return {};
  std::array<char, 48> name{};
  std::snprintf(name.data(), name.size(), "draft-%016llx%016llx", static_cast<unsigned long long>(numbers[0]),
                static_cast<unsigned long long>(numbers[1]));
  return name.data();
}

}  // namespace

Result<std::string> CacheFolder::read(const std::string& name, std::size_t most) const {
  const auto shown = (root_ / sub_ / name).string();
  BURN_TRY(const auto folder, open_folders(root_, sub_, /*may_make=*/false));
  // O_NONBLOCK, O_NOCTTY: opening a FIFO must not wait for a writer, nor opening a device have side effects.
  const UniqueFd file(::openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (file.get() < 0) return system_failure(shown, "cannot be opened");
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return system_failure(shown, "cannot be looked at");
  if (!S_ISREG(info.st_mode)) return unsafe(shown, "is not a regular file");
  BURN_RETURN_IF_ERROR(check_owner(info, shown));
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size > most) {
    return resource_exhausted(shown + ": has " + std::to_string(size) + " bytes, at most " + std::to_string(most) +
                              " are read");
  }
  std::string bytes(static_cast<std::size_t>(size), '\0');
  std::size_t got = 0;
  while (got < bytes.size()) {
    const auto more = ::read(file.get(), bytes.data() + got, bytes.size() - got);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return system_failure(shown, "cannot be read");
    if (more == 0) break;  // the file has been truncated meanwhile
    got += static_cast<std::size_t>(more);
  }
  bytes.resize(got);
  return bytes;
}

Status CacheFolder::write(const std::string& name, std::string_view bytes) const {
  const auto shown = (root_ / sub_ / name).string();
  BURN_TRY(const auto folder, open_folders(root_, sub_, /*may_make=*/true));
  const auto draft = random_name();
  if (draft.empty()) return system_failure(shown, "there are no random numbers");
  UniqueFd file(
      ::openat(folder.get(), draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (file.get() < 0) return system_failure(shown, "cannot be made");
  auto status = write_all(file.get(), bytes, shown);
  if (status.ok() && !file.close()) status = system_failure(shown, "cannot be written");
  if (status.ok() && ::renameat(folder.get(), draft.c_str(), folder.get(), name.c_str()) != 0)
    status = system_failure(shown, "cannot be replaced");
  if (!status.ok()) (void)::unlinkat(folder.get(), draft.c_str(), 0);
  return status;
}

Status CacheFolder::check_writable() const {
  const std::string name = "check";
  BURN_RETURN_IF_ERROR(write(name, "\n"));
  BURN_TRY(const auto folder, open_folders(root_, sub_, /*may_make=*/false));
  if (::unlinkat(folder.get(), name.c_str(), 0) == 0 || errno == ENOENT) return {};
  return system_failure((root_ / sub_ / name).string(), "cannot be removed");
}

void warn_of_cache(const Status& why) {
  static std::atomic<bool> is_said{false};
  if (why.ok() || why.code() == StatusCode::not_found || is_said.exchange(true)) return;
  std::fprintf(stderr, "burn: the cache is not used: %s (further ones are not reported)\n",
               one_line(why.message()).c_str());
}

}  // namespace burn
