// Detects whether a file has changed since its last stamp.
#pragma once

#include <cstdint>
#include <string>

namespace burn::net::tls {

// Attributes that change when a file is written or replaced. All zeros: they cannot be read.
struct FileStamp {
  std::uint64_t device = 0, inode = 0, bytes = 0;
  std::int64_t changed = 0;  // ns

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
FileStamp stamp_of(const std::string& path);

}  // namespace burn::net::tls
