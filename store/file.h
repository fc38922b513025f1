// Whole files in and out of memory. Functions without state; safe from any thread.
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "base/bytes.h"

namespace burn::store {

// The contents, aligned for every element type. A copy, not a mapping: what happens to the file later cannot harm the
// reader. Errors: NOT_FOUND or UNAVAILABLE naming the file and the system's reason.
SharedBytes read_file(const std::filesystem::path& path);

// Makes `path` hold the concatenated parts: afterwards there is either the whole new file or the old one, also when the
// machine stops in between. Writes beside `path` first, hence needs room for both. Errors: UNAVAILABLE naming the file
// and the system's reason.
void write_file(const std::filesystem::path& path, std::span<const std::span<const std::byte>> parts);

// The same for contents that come piece by piece. One thread.
class NewFile {
 public:
  // Errors of all: as write_file().
  explicit NewFile(std::filesystem::path path);
  ~NewFile();  // removes what has been written, unless it is finished
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void finish();  // now `path` holds it

 private:
  struct Open;
  const std::unique_ptr<Open> open_;
};

}  // namespace burn::store
