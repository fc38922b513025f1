// Whether a file has changed since it was last looked at.
#pragma once

#include <cstdint>
#include <string>

namespace burn::net::tls {

// What changes when a file is written or replaced. All zeros: the file cannot be looked at.
struct FileStamp {
  std::uint64_t device = 0, inode = 0, bytes = 0;
  std::int64_t changed = 0;  // ns

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
FileStamp stamp_of(const std::string& path);

}  // namespace burn::net::tls
