// Reading and writing of whole files. Functions without state; safe from any thread.
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "base/bytes.h"

namespace burn::store {

// The contents, aligned for every element type. A copy, not a mapping, so later changes of the file do not affect it.
// Errors: NOT_FOUND or UNAVAILABLE naming the file and the system's reason; DATA_LOSS if the file shrinks meanwhile.
SharedBytes read_file(const std::filesystem::path& path);

// Writes the concatenated parts to `path` atomically: there is either the complete new file or the old one, even if the
// machine stops in between. Writes a temporary file in the same folder first, so it needs space for both. Errors:
// UNAVAILABLE naming the file and the system's reason.
void write_file(const std::filesystem::path& path, std::span<const std::span<const std::byte>> parts);

// The same for contents that are written in pieces. One thread.
class AtomicFileWriter {
 public:
  // Errors of all functions: as write_file().
  explicit AtomicFileWriter(std::filesystem::path path);
  ~AtomicFileWriter();  // removes the temporary file, unless finish() was called
  AtomicFileWriter(const AtomicFileWriter&) = delete;
  AtomicFileWriter& operator=(const AtomicFileWriter&) = delete;

  void write(std::span<const std::byte> bytes);
  void finish();  // moves the file to `path`

 private:
  struct Open;
  const std::unique_ptr<Open> open_;
};

}  // namespace burn::store
