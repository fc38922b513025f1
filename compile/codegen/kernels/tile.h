// Sums of products over a tile: what matrix products and convolutions have in common.
#pragma once

#include <functional>
#include <vector>

#include "compile/codegen/kernel/writer.h"

namespace burn::compile::kernels {

// Rows and columns of a result that one thread computes.
struct Tile {
  int rows = 1, columns = 1;
};

// A tile that fits a result: as large as its sizes allow, up to 8 x 8, and smaller where fewer than `wanted` threads
// would have one.
Tile choose_tile(std::int64_t rows, std::int64_t columns, std::int64_t wanted);

struct TileSource {
  // The element of a row, or of a column, at the depth that the loop has come to.
  std::function<kernel::Value(int row)> first;
  std::function<kernel::Value(int column)> second;
  // Goes through the depth and calls the body at each place.
  std::function<void(const std::function<void()>& body)> depth;
};

// The sums [row][column], row-major, of `type`, in the order of the depth.
std::vector<kernel::Value> multiply_tile(kernel::Writer& writer, ir::DType type, const Tile& tile,
                                         const TileSource& source);

kernel::Value least(kernel::Value a, kernel::Value b);

}  // namespace burn::compile::kernels
