#include "train/events/append_file.h"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>

#include "base/error.h"

namespace burn::train::events {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw Error(StatusCode::unavailable, "cannot write " + path.string() + ": " + std::generic_category().message(error));
}

}  // namespace

AppendFile::AppendFile(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code error;
  if (path_.has_parent_path()) std::filesystem::create_directories(path_.parent_path(), error);
  if (error) {
    throw Error(StatusCode::unavailable,
                "cannot make the folder " + path_.parent_path().string() + ": " + error.message());
  }
  file_ = UniqueFd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!file_) fail(path_, errno);
}

void AppendFile::cut(std::uint64_t size) {
  if (::ftruncate(file_.get(), static_cast<off_t>(size)) != 0) fail(path_, errno);
}

void AppendFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

bool AppendFile::lock() { return ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0; }

bool is_locked(const std::filesystem::path& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file && ::flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace burn::train::events
