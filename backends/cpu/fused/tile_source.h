// Locates the operands of a fused group for its tiles.
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
  std::optional<std::int64_t> row_step;  // bytes from row to row, if rows are not adjacent
  std::int64_t tile_step = 0;            // bytes to what the next tile reads; 0: not known
};

// An operand of the group, as tiles read it.
class TileSource {
 public:
  // An operand with a number per element of the domain. The array stays with the caller, so that a result may overwrite
  // it.
  TileSource(Array& x, ir::DType held);
  // An operand with a number per row, or a single number, already in its held type.
  explicit TileSource(Array numbers) : numbers_(std::move(numbers)), nest_({}, {&numbers_.strides()}) {}

  // Locates the elements [begin, begin + n): in place, or copied to `scratch`.
  Location locate(std::int64_t begin, std::int64_t n, bool needs_dense, std::byte* scratch);
  // The location of the first tile, in place, for tiles of `rows` rows of n elements, and the step from each tile to
  // the next; std::nullopt if that differs from tile to tile.
  struct FixedStride {
    Location first;
    std::int64_t step = 0;  // bytes
  };
  std::optional<FixedStride> fixed_stride(std::int64_t rows, std::int64_t n, bool needs_dense) const;
  // The numbers from that row on; or the single number.
  Location row(std::int64_t row) { return {numbers_.data() + row * size_of(numbers_.dtype()), 1}; }
  Location only() { return {numbers_.data(), 0}; }

 private:
  static std::int64_t size_of(ir::DType dtype) { return static_cast<std::int64_t>(ir::size_of(dtype)); }

  Array numbers_;
  std::byte* data_ = nullptr;
  std::int64_t size_ = 0, held_size_ = 0;  // of an element, bytes
  CastLoop copy_ = nullptr;                // from the stored to the held type
  bool converts_ = false;
  LoopNest<1> nest_;
};

}  // namespace burn::backends::cpu
