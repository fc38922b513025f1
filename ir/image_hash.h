// The hash of a program that is being written. The images of its parts are gathered and hashed together: a call for
// each would take a fifth of the time of recording.
//
// An image says by itself where it ends, so that no two lists of parts have the same bytes.
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
  static constexpr std::size_t kMaxOfPart = kMaxOpImage + 128;
  static constexpr std::byte kFolded{253};  // the first byte of no part

  // Where the next part goes: there is room for kMaxOfPart bytes. end_part() is given its end.
  std::byte* begin_part() {
    if (bytes_.size() - size_ < kMaxOfPart) [[unlikely]]
      make_room();
    return bytes_.data() + size_;
  }
  void end_part(const std::byte* end) { size_ = static_cast<std::size_t>(end - bytes_.data()); }

  // Of all parts since the last take() or clear(), which begins anew and keeps the memory.
  Digest take();
  void clear() { size_ = 0; }

 private:
  static constexpr std::size_t kBlock = std::size_t{16} << 10;  // some 300 parts

  void make_room();

  std::vector<std::byte> bytes_;  // of the block that is being filled
  std::size_t size_ = 0;
};

}  // namespace burn::ir
