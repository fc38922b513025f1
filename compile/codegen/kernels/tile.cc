#include "compile/codegen/kernels/tile.h"

#include <algorithm>

namespace burn::compile::kernels {

using kernel::Value;
using kernel::Variable;

Tile choose_tile(std::int64_t rows, std::int64_t columns, std::int64_t wanted) {
  constexpr int kMost = 8;
  Tile tile;
  const auto halves = [](int of, std::int64_t size) {
    while (of > 1 && of > size) of /= 2;
    return of;
  };
  tile.rows = halves(kMost, rows), tile.columns = halves(kMost, columns);
  const auto tiles = [&] {
    return ((rows + tile.rows - 1) / tile.rows) * ((columns + tile.columns - 1) / tile.columns);
  };
  while (tiles() < wanted && tile.rows * tile.columns > 4) {
    auto& larger = tile.rows > tile.columns ? tile.rows : tile.columns;
    larger /= 2;
  }
  return tile;
}

std::vector<Value> multiply_tile(kernel::Writer& writer, ir::DType type, const Tile& tile, const TileSource& source) {
  const auto count = static_cast<std::size_t>(tile.rows * tile.columns);
  std::vector<Variable> sums;
  for (std::size_t i = 0; i < count; ++i) sums.push_back(writer.variable(writer.constant(type, std::int64_t{0})));
  source.depth([&] {
    std::vector<Value> first, second;
    for (int row = 0; row < tile.rows; ++row) first.push_back(source.first(row));
    for (int column = 0; column < tile.columns; ++column) second.push_back(source.second(column));
    for (std::size_t i = 0; i < count; ++i) {
      const Value a = first[i / second.size()], b = second[i % second.size()], sum = sums[i].get();
      sums[i].set(ir::is_floating(type) ? fused_multiply_add(a, b, sum) : sum + a * b);
    }
  });
  std::vector<Value> results;
  for (const auto& sum : sums) results.push_back(sum.get());
  return results;
}

Value least(Value a, Value b) { return select(b < a, b, a); }

}  // namespace burn::compile::kernels
