// Small files that are kept between processes: choices of kernels, compiled kernels. What is read decides what is
// computed, so only files that no other user can have written are read, and nothing that lies in the folder can make a
// process wait, take much memory or write elsewhere.
//
// The folder has to belong to the effective user and not be writable by others; it is made with mode 0700, and set to
// that where others may read it. Files have to be regular ones of the effective user, not writable by others, and not
// larger than the reader expects; they are made with mode 0600. Neither the folder nor a file may be a symbolic link.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/status.h"

namespace burn {

// Thread-safe. Opens the folder at each call: it may be removed and made again at any time.
class CacheFolder {
 public:
  // `root`: the folder, of which the parents are made as they are needed; empty: nothing is kept. `sub`: the name of a
  // folder within it that files are in, of which the same holds; empty: the root itself.
  explicit CacheFolder(std::filesystem::path root, std::string sub = "")
      : root_(std::move(root)), sub_(std::move(sub)) {}

  // The content of a file. Errors: NOT_FOUND where there is no such file or folder; FAILED_PRECONDITION for one that is
  // not safe or cannot be read; RESOURCE_EXHAUSTED for one of more than `most` bytes.
  Result<std::string> read(const std::string& name, std::size_t most) const;
  // Others see the old file or the whole new one: it is written under a random name first, which then becomes `name`.
  // Errors: FAILED_PRECONDITION with what the system says; then nothing has changed.
  Status write(const std::string& name, std::string_view bytes) const;
  // Whether files can be written. Errors: write()'s.
  Status check_writable() const;

 private:
  const std::filesystem::path root_;
  const std::string sub_;
};

// One line on stderr for the first failure that is told here in this process, none for others nor for NOT_FOUND: caches
// go on without their files.
void warn_of_cache(const Status& why);

}  // namespace burn
