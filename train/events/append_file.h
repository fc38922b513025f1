// A file that is appended to, for loggers and event files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/unique_fd.h"

namespace burn::train::events {

class AppendFile {
 public:
  // Creates the file and its parent folders if they do not exist. Errors of all functions (thrown): UNAVAILABLE naming
  // the file and the system's reason.
  explicit AppendFile(std::filesystem::path path);

  void write(std::string_view bytes);
  void cut(std::uint64_t size);  // truncates to `size` bytes
  // Takes the lock that tells other processes that the file is being written; false: another process holds it.
  bool lock();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  UniqueFd file_;
};

// Whether a process holds the file's lock.
bool is_locked(const std::filesystem::path& path);

}  // namespace burn::train::events
