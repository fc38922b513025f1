// Small files that later processes reuse: choices of kernels, compiled kernels. Their content decides what is computed,
// so only files that no other user can have written are read, and no entry of the folder can make a process wait, use
// much memory or write elsewhere.
//
// The folder must belong to the effective user and not be writable by others; it is created with mode 0700, and changed
// to that mode if others may read it. Files must be regular, belong to the effective user, not be writable by others,
// and not be larger than the reader expects; they are created with mode 0600. Neither the folder nor a file may be a
// symbolic link.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/status.h"

namespace burn {

// Thread-safe. Opens the folder at each call, so it may be removed and created again at any time.
class CacheFolder {
 public:
  // `root`: the folder, created with its parents when needed; empty: no files are kept. `sub`: the name of a folder
  // within it that holds the files, also created when needed; empty: the root itself.
  explicit CacheFolder(std::filesystem::path root, std::string sub = "")
      : root_(std::move(root)), sub_(std::move(sub)) {}

  // Returns a file's content. Errors: NOT_FOUND if there is no such file or folder; FAILED_PRECONDITION for one that is
  // not safe or cannot be read; RESOURCE_EXHAUSTED for a file of more than `most` bytes.
  Result<std::string> read(const std::string& name, std::size_t most) const;
  // Atomic: readers see the old file or the whole new one, as it is written under a random name and then renamed.
  // Errors: FAILED_PRECONDITION with the system's message; then nothing has changed.
  Status write(const std::string& name, std::string_view bytes) const;
  // Whether files can be written. Errors: write()'s.
  Status check_writable() const;

 private:
  const std::filesystem::path root_;
  const std::string sub_;
};

// Prints the first failure of this process to stderr, in one line; later ones and NOT_FOUND are not printed, as caches
// work without their files.
void warn_of_cache(const Status& why);

}  // namespace burn
