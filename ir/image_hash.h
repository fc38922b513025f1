// Hashes a program while it is recorded. The byte images of its parts are collected in a buffer and hashed together:
// hashing each by itself would take a fifth of the time of recording.
//
// An image is self-delimiting, so that no two lists of parts have the same bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/attrs.h"

namespace burn::ir {

class ImageHash {
 public:
  using Digest = std::array<std::uint64_t, 2>;  // 128 bits of XXH3
  static constexpr std::size_t kMaxPartBytes = kMaxOpImage + 128;
  static constexpr std::byte kDigestMarker{253};  // marks a digest; no part begins with it

  // Returns where to write the next part, with room for kMaxPartBytes bytes. Pass its end to end_part().
  std::byte* begin_part() {
    if (bytes_.size() - size_ < kMaxPartBytes) [[unlikely]]
      make_room();
    return bytes_.data() + size_;
  }
  void end_part(const std::byte* end) { size_ = static_cast<std::size_t>(end - bytes_.data()); }

  // Returns the hash of all parts since the last take() or clear(), and resets. Both keep the memory.
  Digest take();
  void clear() { size_ = 0; }

 private:
  static constexpr std::size_t kBlock = std::size_t{16} << 10;  // about 300 parts

  void make_room();

  std::vector<std::byte> bytes_;  // the block that is being filled; a full one is replaced by its digest
  std::size_t size_ = 0;
};

}  // namespace burn::ir
