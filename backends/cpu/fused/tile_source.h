// Where the values of a fused group lie: its operands as tiles find them.
#pragma once

#include <cstddef>
#include <optional>

#include "backends/cpu/kernels/cast.h"
#include "backends/cpu/runtime/array.h"
#include "backends/cpu/runtime/loops.h"

namespace burn::backends::cpu {

// Where a value is while a tile is computed; strides as in RunLoop.
struct Location {
  std::byte* data = nullptr;
  std::int64_t stride = 1;
  std::optional<std::int64_t> row_step;  // bytes from row to row, where rows do not follow one another
  std::int64_t tile_step = 0;            // bytes to where the next tile reads, if that is known
};

// An operand of the group as the tiles find it.
class TileSource {
 public:
  // Elements of the domain. The array stays with the caller, so that a result may be written over it.
  TileSource(Array& x, ir::DType held);
  // One number per row, or only one, as held.
  explicit TileSource(Array numbers) : numbers_(std::move(numbers)), nest_({}, {&numbers_.strides()}) {}

  // The elements [begin, begin + n): in place, or copied to `scratch`.
  Location locate(std::int64_t begin, std::int64_t n, bool wants_all, std::byte* scratch);
  // Where the first tile is found, in place, and how many bytes further each of `rows` rows of n elements is than the
  // one before; nothing where that differs from tile to tile.
  struct Even {
    Location first;
    std::int64_t step = 0;  // bytes
  };
  std::optional<Even> even(std::int64_t rows, std::int64_t n, bool wants_all) const;
  // From the row's number on; or the only one.
  Location row(std::int64_t row) { return {numbers_.data() + row * size_of(numbers_.dtype()), 1}; }
  Location only() { return {numbers_.data(), 0}; }

 private:
  static std::int64_t size_of(ir::DType dtype) { return static_cast<std::int64_t>(ir::size_of(dtype)); }

  Array numbers_;
  std::byte* data_ = nullptr;
  std::int64_t size_ = 0, held_size_ = 0;  // of an element, bytes
  CastLoop copy_ = nullptr;                // from how it is stored to how it is held
  bool converts_ = false;
  LoopNest<1> nest_;
};

}  // namespace burn::backends::cpu
