#include "store/file.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <new>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/unique_fd.h"

namespace burn::store {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunk = std::size_t{1} << 30;  // read() and write() move less than 2 GiB at a time

Error failed(std::string_view what, const fs::path& path, int number) {
  const auto code = number == ENOENT ? StatusCode::not_found : StatusCode::unavailable;
  return {code, fmt::format("cannot {} {}: {}", what, path.native(), std::generic_category().message(number))};
}

// Removes the temporary file, unless finished() was called.
class Unfinished {
 public:
  explicit Unfinished(fs::path path) : path_(std::move(path)) {}
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  ~Unfinished() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  const fs::path& path() const { return path_; }
  void finished() { path_.clear(); }

 private:
  fs::path path_;
};

// A name for a temporary file in the folder of `path`, unique among processes and threads.
fs::path beside(const fs::path& path) {
  static std::atomic<std::uint64_t> counter{0};
  return path.parent_path() / fmt::format(".{}.{}-{}.tmp", path.filename().native(), ::getpid(), counter++);
}

// Blocks SIGXFSZ, so that a write past RLIMIT_FSIZE fails with EFBIG, as one to a full disk does with ENOSPC, instead
// of ending the process.
class NoFileSizeSignal {
 public:
  NoFileSizeSignal() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    ::pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  NoFileSizeSignal(const NoFileSizeSignal&) = delete;
  NoFileSizeSignal& operator=(const NoFileSizeSignal&) = delete;
  ~NoFileSizeSignal() {
    const timespec at_once{};
    if (sigismember(&before_, SIGXFSZ) == 0) ::sigtimedwait(&signal_, nullptr, &at_once);  // takes one left by write()
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t signal_{}, before_{};
};

// 0 or the system's error number.
int write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(file, bytes.data(), std::min(bytes.size(), kChunk));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

// Makes a rename survive a power failure. Not every file system can do that; the contents are safe either way.
void sync_folder_of(const fs::path& path) {
  const auto folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const UniqueFd handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (handle.get() >= 0) ::fsync(handle.get());
}

std::shared_ptr<std::uint64_t[]> allocate(const fs::path& path, std::size_t size) try {
  return std::make_shared_for_overwrite<std::uint64_t[]>(size / 8 + 1);
} catch (const std::bad_alloc&) {
  throw Error(StatusCode::resource_exhausted,
              fmt::format("cannot read {}: no memory for {} bytes", path.native(), size));
}

}  // namespace

SharedBytes read_file(const fs::path& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts {};
  if (file.get() < 0 || ::fstat(file.get(), &facts) != 0) throw failed("read", path, errno);
  if (!S_ISREG(facts.st_mode)) throw failed("read", path, S_ISDIR(facts.st_mode) ? EISDIR : EINVAL);

  const auto size = static_cast<std::size_t>(facts.st_size);
  const auto owner = allocate(path, size);
  auto* bytes = reinterpret_cast<std::byte*>(owner.get());
  for (std::size_t done = 0; done < size;) {
    const auto count = ::read(file.get(), bytes + done, std::min(size - done, kChunk));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw failed("read", path, errno);
    if (count == 0) {
      throw Error(StatusCode::data_loss,
                  fmt::format("cannot read {}: it shrank to {} of {} bytes meanwhile", path.native(), done, size));
    }
    done += static_cast<std::size_t>(count);
  }
  return {owner, {bytes, size}};
}

struct AtomicFileWriter::Open {
  explicit Open(fs::path wanted) : path(std::move(wanted)), name(beside(path)), unfinished(name) {
    file = UniqueFd(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file.get() >= 0) return;
    const int error = errno;
    unfinished.finished();  // there is nothing to remove
    throw failed("write", path, error);
  }

  const fs::path path, name;
  Unfinished unfinished;
  UniqueFd file;
};

AtomicFileWriter::AtomicFileWriter(fs::path path) : open_(std::make_unique<Open>(std::move(path))) {}
AtomicFileWriter::~AtomicFileWriter() = default;

void AtomicFileWriter::write(std::span<const std::byte> bytes) {
  const NoFileSizeSignal quiet;
  if (const int error = write_all(open_->file.get(), bytes); error != 0) throw failed("write", open_->path, error);
}

void AtomicFileWriter::finish() {
  auto& [path, name, unfinished, file] = *open_;
  if (::fsync(file.get()) != 0 || !file.close()) throw failed("write", path, errno);
  if (::rename(name.c_str(), path.c_str()) != 0) throw failed("write", path, errno);
  unfinished.finished();
  sync_folder_of(path);
}

void write_file(const fs::path& path, std::span<const std::span<const std::byte>> parts) {
  AtomicFileWriter file(path);
  for (const auto part : parts) file.write(part);
  file.finish();
}

}  // namespace burn::store
