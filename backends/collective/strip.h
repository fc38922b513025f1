// Parts of tensors along one dim, as they lie in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <sys/uio.h>

#include "ir/types/shape.h"

namespace burn::backends {

// `count` blocks of `block` bytes, each `stride` bytes after the one before: a part of a row-major tensor. Without
// data: as many bytes that are not wanted.
struct Strip {
  std::byte* data = nullptr;
  std::size_t block = 0, stride = 0, count = 0;

  std::size_t bytes() const { return block * count; }
};

// The elements [begin, begin + size) along `dim` of a row-major tensor.
Strip part_of(const ir::TensorType& type, std::byte* data, std::int64_t dim, std::int64_t begin, std::int64_t size);
// So many bytes in one block.
inline Strip whole(std::byte* data, std::size_t bytes) { return {data, bytes, bytes, bytes > 0 ? 1u : 0u}; }

// The bytes [begin, end) of a strip, counted over its blocks one after the other.
struct StripRange {
  Strip strip;
  std::size_t begin = 0, end = 0;

  std::size_t bytes() const { return end - begin; }
  // Adds where the bytes from the `done`th on lie, in at most `most` pieces. Requires: data.
  void append_places(std::size_t done, std::size_t most, std::vector<iovec>& places) const;
};
inline StripRange all_of(const Strip& strip) { return {strip, 0, strip.bytes()}; }

// Requires: as many bytes in both, which do not overlap.
void copy(const StripRange& from, const StripRange& to);

}  // namespace burn::backends
