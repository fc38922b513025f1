// Sums of products over a tile: what matrix products and convolutions have in common.
#pragma once

#include <functional>
#include <vector>

#include "compile/codegen/kernel/device_facts.h"
#include "compile/codegen/kernels/arguments.h"

namespace burn::compile::kernels {

// How many parts of `b` it takes for `a`, the last of them perhaps in part. Requires: a >= 0, b > 0.
inline std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

using Values = std::vector<kernel::Value>;

// Rows and columns of a result that one thread computes.
struct Tile {
  int rows = 1, columns = 1;
  // Threads side by side that compute the same rows, and load each row's element once for all of them
  // (Writer::broadcast); 1: each thread loads its own.
  int lanes = 1;
};

// So many threads keep the device busy.
std::int64_t wanted_threads(const DeviceFacts& facts);

// A result in tiles: for each part of the depth and each group, rows x columns.
struct TileGrid {
  std::int64_t rows = 1, columns = 1, groups = 1, parts = 1;
  Tile tile = {};

  std::int64_t down() const;
  std::int64_t across() const;  // a multiple of the lanes
  std::int64_t threads() const { return down() * across() * groups * parts; }

  // A tile as large as the sizes allow, and smaller where fewer than `wanted` threads would have one. `type`: of sums.
  void choose_tile(const DeviceFacts& facts, ir::DType type, std::int64_t wanted);
};

// What a thread computes.
struct TilePlace {
  kernel::Value part, group;
  Values rows, columns;  // of the result; may lie beyond its edge
  Values in_columns;     // the same, but the last one there beyond the edge
  Values loaded_rows;    // the rows whose elements the thread loads, inside: one for each row, or for each row of lanes
  kernel::Value is_one;  // whether the thread has a tile: one beyond the end computes another's once more
};

// body(place), for each thread that has a tile and, with lanes, for all threads.
void each_tile(kernel::Writer& writer, Arguments& arguments, const TileGrid& grid,
               const std::function<void(const TilePlace& place)>& body);

struct TileSource {
  // The element of the k-th loaded row, or of a column, at the depth that the loop has come to.
  std::function<kernel::Value(std::size_t k)> row;
  std::function<kernel::Value(std::size_t column)> column;
  // Goes through the depth and calls the body at each place; the same for all threads.
  std::function<void(const std::function<void()>& body)> depth;
};

// The sums [row][column], row-major, of `type`, in the order of the depth.
Values multiply_tile(kernel::Writer& writer, ir::DType type, const Tile& tile, const TileSource& source);

// store(row, column, sum) for the elements of a tile that are inside.
void each_inside(kernel::Writer& writer, Arguments& arguments, const TileGrid& grid, const TilePlace& place,
                 const Values& sums, const std::function<void(std::size_t, std::size_t, kernel::Value)>& store);

kernel::Value least(kernel::Value a, kernel::Value b);

}  // namespace burn::compile::kernels
