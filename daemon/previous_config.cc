#include "daemon/previous_config.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "base/write_all.h"
#include "daemon/environment.h"
#include "daemon/option_source.h"

namespace burn::daemon {
namespace {

constexpr std::size_t kMaxBytes = 1 << 20;

Status failed(std::string_view what, const std::string& path) {
  return unavailable(fmt::format("{} {}: {}", what, path, std::generic_category().message(errno)));
}

std::string in_folder(const std::string& folder, const std::string& config) {
  return (std::filesystem::path{folder} / std::filesystem::path{config}.filename()).string() + ".previous";
}

Result<std::string> read_text(const std::string& path, int more_flags) {
  const UniqueFd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | more_flags)};
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0) return failed("cannot read", path);
  if (!S_ISREG(info.st_mode)) return invalid_argument(fmt::format("{} is no regular file", path));
  std::string text;
  std::array<char, 4096> part;
  for (;;) {
    const auto count = ::read(file.get(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("cannot read", path);
    if (count == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(count));
    if (text.size() > kMaxBytes) return invalid_argument(fmt::format("{} has more than {} bytes", path, kMaxBytes));
  }
}

// Replaces a file by renaming a temporary file over it. `like`: the file whose owner and mode the new one gets; null:
// the owner of the process, mode 0600.
Status replace_file(const std::string& path, const std::string& text, const struct stat* like) {
  auto next = path + ".XXXXXX";
  const UniqueFd file{::mkostemp(next.data(), O_CLOEXEC)};
  if (!file) return failed("cannot write beside", path);
  const bool is_written =
      (!like ||
       (::fchown(file.get(), like->st_uid, like->st_gid) == 0 && ::fchmod(file.get(), like->st_mode & 07777) == 0)) &&
      write_all(file.get(), text) && ::fsync(file.get()) == 0 && ::rename(next.c_str(), path.c_str()) == 0;
  if (is_written) return {};
  auto status = failed("cannot write", path);
  (void)::unlink(next.c_str());
  return status;
}

}  // namespace

std::string previous_config_path(const std::string& config, const char* const* environment) {
  const std::string folders{environment_value("STATE_DIRECTORY", environment)};
  return folders.empty() ? config + ".previous" : in_folder(folders.substr(0, folders.find(':')), config);
}

std::vector<std::string> previous_config_paths(Daemon daemon, const std::string& config,
                                               const char* const* environment) {
  return {previous_config_path(config, environment), config + ".previous",
          in_folder(daemon == Daemon::router ? "/var/lib/burn-router" : "/var/lib/burn", config)};
}

Result<std::string> read_config(const std::string& path) { return read_text(path, 0); }

Status write_config(const std::string& path, const std::string& text) { return replace_file(path, text, nullptr); }

Result<std::string> roll_back(Daemon daemon, const std::string& config, const std::vector<std::string>& kept) {
  const std::string* newest = nullptr;
  struct timespec time {};
  for (const auto& path : kept) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) continue;
    const auto& at = info.st_mtim;
    if (newest && (at.tv_sec < time.tv_sec || (at.tv_sec == time.tv_sec && at.tv_nsec <= time.tv_nsec))) continue;
    newest = &path;
    time = at;
  }
  if (!newest) return not_found(fmt::format("no reload has kept an earlier {}: there is no {}", config, kept.front()));
  // Another user may have created the file, so links are not followed.
  BURN_TRY(const auto text, read_text(*newest, O_NOFOLLOW));
  BURN_RETURN_IF_ERROR(parse_option_file(daemon, text, *newest).status());
  std::error_code error;
  const auto file = std::filesystem::canonical(config, error);
  struct stat info {};
  if (error || ::stat(file.c_str(), &info) != 0) return not_found(fmt::format("there is no {}", config));
  BURN_RETURN_IF_ERROR(replace_file(file.string(), text, &info));
  return *newest;
}

}  // namespace burn::daemon
