// Parts of tensors along one dim, as strided blocks of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <sys/uio.h>

#include "ir/types/shape.h"

namespace burn::backends {

// `count` blocks of `block` bytes, each `stride` bytes after the one before: a part of a row-major tensor. If `data` is
// null, the bytes are received and dropped.
struct Strip {
  std::byte* data = nullptr;
  std::size_t block = 0, stride = 0, count = 0;

  std::size_t bytes() const { return block * count; }
};

// The elements [begin, begin + size) along `dim` of a row-major tensor.
Strip part_of(const ir::TensorType& type, std::byte* data, std::int64_t dim, std::int64_t begin, std::int64_t size);
// A strip of `bytes` contiguous bytes.
inline Strip whole(std::byte* data, std::size_t bytes) { return {data, bytes, bytes, bytes > 0 ? 1u : 0u}; }

// The bytes [begin, end) of a strip, counted over its blocks in order.
struct StripRange {
  Strip strip;
  std::size_t begin = 0, end = 0;

  std::size_t bytes() const { return end - begin; }
  // Appends where the bytes from the `done`th on are in memory, in at most `most` pieces. Requires: data.
  void append_places(std::size_t done, std::size_t most, std::vector<iovec>& places) const;
};
inline StripRange all_of(const Strip& strip) { return {strip, 0, strip.bytes()}; }

// Requires: both have the same number of bytes, and do not overlap.
void copy(const StripRange& from, const StripRange& to);

}  // namespace burn::backends
