// A file that grows at its end: what loggers and event files are written to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/unique_fd.h"

namespace burn::train::events {

class AppendFile {
 public:
  // Makes the file and the folders above it if they are not there. Errors of all functions (thrown): UNAVAILABLE naming
  // the file and the system's reason.
  explicit AppendFile(std::filesystem::path path);

  void write(std::string_view bytes);
  void cut(std::uint64_t size);  // to so many bytes
  // Holds the lock that tells other processes that the file is being written; false: another one holds it.
  bool lock();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  UniqueFd file_;
};

// A process holds the file's lock.
bool is_locked(const std::filesystem::path& path);

}  // namespace burn::train::events
