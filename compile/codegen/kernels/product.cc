#include "compile/codegen/kernels/product.h"

#include <algorithm>

#include <fmt/format.h>

#include "compile/codegen/alternatives.h"
#include "compile/codegen/group_kernel.h"
#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernels/arguments.h"
#include "compile/codegen/kernels/block_tile.h"
#include "compile/codegen/kernels/product_values.h"
#include "compile/codegen/kernels/tile.h"
#include "compile/codegen/kernels/tile_product.h"
#include "compile/codegen/target.h"

namespace burn::compile::kernels {
namespace {

using kernel::Value;

Status emit_in_blocks(Emitter& emit, const ProductOperands& operands, const BlockGrid& grid) {
  const auto compute = ir::compute_dtype(operands.c.dtype);
  std::optional<View> parts;
  if (grid.parts > 1) parts = emit.scratch_value({compute, {grid.parts, grid.groups, grid.rows, grid.columns}});
  const auto& facts = emit.target().facts();
  kernel::Writer writer(grid.tile.threads(), facts.has_functions, facts.has_exp2);
  Arguments arguments(writer, operands.index(std::max(grid.threads(), parts ? parts->num_elements() : 0)));
  const auto from = arguments.address(operands.a), by = arguments.address(operands.b);
  const auto into = parts ? arguments.address(*parts) : kernel::Memory{};
  std::optional<ProductResult> result;
  if (!parts) result.emplace(writer, arguments, operands);
  each_block(writer, arguments, grid, [&](const BlockPlace& place) {
    const auto begins = operands.batch().offsets(arguments, place.group);
    const auto source = [&](const View& view, kernel::Memory memory, Value begin, std::int64_t lines,
                            std::int64_t line_step, std::int64_t depth_step) {
      const Value of_line = arguments.number(line_step), of_depth = arguments.number(depth_step);
      const auto from_line = [&writer, memory, begin, of_line, of_depth](int count) {
        return [=, &writer](Value line) {
          const Value at = begin + line * of_line;
          return [=, &writer](Value depth) { return writer.load(memory, at + depth * of_depth, count); };
        };
      };
      BlockSource source{
          .line =
              [from_line](Value line) { return [load = from_line(1)(line)](Value depth) { return load(depth)[0]; }; },
          .is_depth_contiguous = depth_step == 1};
      const bool is_along_depth = depth_step == 1;
      if ((is_along_depth || line_step == 1) &&
          lies_in_packs(view, BlockSource::kPack, is_along_depth ? grid.depth : lines,
                        is_along_depth ? line_step : depth_step))
        source.packs = from_line(BlockSource::kPack);
      return source;
    };
    const Value stack = parts ? place.part * arguments.number(grid.groups) + place.group : place.group;
    const Value all_rows = arguments.number(grid.rows), all_columns = arguments.number(grid.columns);
    const auto in_parts = [&](Value row, Value column) { return (stack * all_rows + row) * all_columns + column; };
    std::function<void(Value, Value, const Values&)> store_pack;
    if (parts ? grid.columns % BlockSource::kPack == 0 : ProductResult::takes_packs(operands, BlockSource::kPack))
      store_pack = [&](Value row, Value column, const Values& sums) {
        if (!parts) return result->store(begins, row, column, sums);
        writer.store(into, in_parts(row, column), sums);
      };
    const MatrixSteps a(operands.a), b(operands.b);
    multiply_block(
        writer, arguments, compute, grid, place, source(operands.a, from, begins[0], grid.rows, a.row, a.column),
        source(operands.b, by, begins[1], grid.columns, b.column, b.row),
        [&](Value row, Value column, Value sum) {
          if (!parts) return result->store(begins, row, column, sum);
          writer.store(into, in_parts(row, column), sum);
        },
        store_pack);
  });
  arguments.launch(emit, grid.threads());
  if (parts) add_parts(emit, *parts, grid, operands);
  return {};
}

// Each thread loops over the depth by itself.
Status emit_by_threads(Emitter& emit, const ProductOperands& operands) {
  const auto& [a, b, c, group] = operands;
  const auto rows = c.shape[c.rank() - 2], columns = c.shape[c.rank() - 1], depth = a.shape[a.rank() - 1];
  const ProductBatch batch = operands.batch();
  const auto compute = ir::compute_dtype(c.dtype);
  TileGrid grid{.rows = rows, .columns = columns, .groups = batch.count};
  const auto& facts = emit.target().facts();
  grid.choose_tile(facts, compute, wanted_threads(facts));

  kernel::Writer writer(64, facts.has_functions, facts.has_exp2);
  Arguments arguments(writer, operands.index(grid.threads()));
  const auto from = arguments.address(a), by = arguments.address(b);
  ProductResult result(writer, arguments, operands);
  const MatrixSteps first(a), second(b);
  each_tile(writer, arguments, grid, [&](const TilePlace& place) {
    const auto begins = batch.offsets(arguments, place.group);
    Values first_at, second_at;
    const Value a_row = arguments.number(first.row), b_column = arguments.number(second.column);
    for (const auto row : place.loaded_rows) first_at.push_back(begins[0] + row * a_row);
    for (const auto column : place.in_columns) second_at.push_back(begins[1] + column * b_column);
    const Value a_step = arguments.number(first.column), b_step = arguments.number(second.row);
    Value at;
    const auto sums =
        multiply_tile(writer, compute, grid.tile,
                      {.row = [&](std::size_t i) { return writer.load(from, first_at[i] + at * a_step); },
                       .column = [&](std::size_t j) { return writer.load(by, second_at[j] + at * b_step); },
                       .depth =
                           [&](const std::function<void()>& body) {
                             writer.loop(arguments.number(depth), [&](Value k) {
                               at = k;
                               body();
                             });
                           }});
    each_inside(writer, arguments, grid, place, sums, [&](std::size_t i, std::size_t j, Value sum) {
      result.store(begins, place.rows[i], place.columns[j], sum);
    });
  });
  arguments.launch(emit, grid.threads());
  return {};
}

// What of it shapes the kernels, and its sizes.
std::string key_of(const ProductOperands& operands) {
  const auto layout = [](const View& view) {
    const MatrixSteps steps(view);
    return steps.column == 1 ? "rows" : steps.row == 1 ? "columns" : "strided";
  };
  const auto& [a, b, c, group] = operands;
  return fmt::format("product {} {} x {} x {} of {}, {} by {}", ir::name(c.dtype), size_in_key(c.shape[c.rank() - 2]),
                     size_in_key(c.shape[c.rank() - 1]), size_in_key(a.shape[a.rank() - 1]),
                     size_in_key(operands.batch().count), layout(a), layout(b));
}

// By tiles of blocks.
struct BlockAlternatives {
  std::vector<BlockGrid> grids;  // what is taken untimed first; empty: not on this device
  bool are_matrix_tiles = false;

  Status emit(Emitter& to, const ProductOperands& operands, std::size_t which) const {
    if (!are_matrix_tiles) return emit_in_blocks(to, operands, grids[which]);
    emit_product_in_tiles(to, operands, grids[which]);
    return {};
  }
};

BlockAlternatives block_alternatives(const DeviceFacts& facts, const ProductOperands& operands) {
  auto grids = grids_in_tiles(facts, operands);
  if (!grids.empty()) return {std::move(grids), true};
  const auto& [a, b, c, group] = operands;
  return {BlockGrid::candidates(facts, ir::compute_dtype(c.dtype), c.shape[c.rank() - 2], c.shape[c.rank() - 1],
                                a.shape[a.rank() - 1], operands.batch().count)};
}

// The fastest of them, timed without the group, which costs each of them about as much.
std::size_t fastest(Emitter& emit, const ProductOperands& operands, const BlockAlternatives& ways) {
  if (ways.grids.size() == 1) return 0;
  std::vector<Alternative> alternatives;
  alternatives.reserve(ways.grids.size());
  for (std::size_t k = 0; k < ways.grids.size(); ++k) {
    alternatives.push_back(
        {ways.grids[k].name(), [k, &ways](Emitter& to, std::span<const View> from, std::span<const View> into) {
           return ways.emit(to, {from[0], from[1], into[0]}, k);
         }});
  }
  const View read[] = {operands.a, operands.b};
  return emit.target().fastest(key_of(operands), read, {&operands.c, 1}, alternatives);
}

Status emit_any(Emitter& emit, const ProductOperands& operands) {
  if (operands.c.num_elements() == 0) return {};
  const auto ways = block_alternatives(emit.target().facts(), operands);
  if (ways.grids.empty()) return emit_by_threads(emit, operands);
  return ways.emit(emit, operands, fastest(emit, operands, ways));
}

}  // namespace

void add_parts(Emitter& emit, const View& parts, const BlockGrid& grid, const ProductOperands& operands) {
  const auto elements = grid.groups * grid.rows * grid.columns;
  const auto& facts = emit.target().facts();
  kernel::Writer writer(64, facts.has_functions, facts.has_exp2);
  Arguments arguments(writer, operands.index(parts.num_elements()));
  const auto from = arguments.address(parts);
  ProductResult result(writer, arguments, operands);
  const Value position = arguments.position(), size = arguments.number(elements);
  writer.when(position < size, [&] {
    const auto sum = writer.variable(writer.constant(parts.dtype, 0.0));
    writer.loop(arguments.number(grid.parts),
                [&](Value part) { sum.set(sum.get() + writer.load(from, part * size + position)); });
    const Value columns = arguments.number(grid.columns), rows = arguments.number(grid.rows);
    const Value line = position / columns, group = line / rows;
    result.store(operands.batch().offsets(arguments, group), line - group * rows, position - line * columns, sum.get());
  });
  arguments.launch(emit, elements);
}

bool lies_in_packs(const View& view, std::int64_t count, std::int64_t side_by_side, std::int64_t step) {
  if (side_by_side % count != 0 || step % count != 0) return false;
  for (int d = 0; d + 2 < view.rank(); ++d) {
    if (view.strides[d] % count != 0) return false;
  }
  const auto bytes = count * static_cast<std::int64_t>(ir::size_of(view.dtype));
  return bytes <= 16 && view.address.offset % bytes == 0;
}

ProductResult::ProductResult(kernel::Writer& writer, Arguments& arguments, const ProductOperands& operands)
    : writer_(writer), dtype_(operands.c.dtype) {
  if (!operands.group) into_ = arguments.address(operands.c);
  const MatrixSteps line(operands.c);
  row_ = arguments.number(line.row), column_ = arguments.number(line.column);
  if (operands.group) group_.emplace(writer, arguments, *operands.group);
}

void ProductResult::store(const std::vector<Value>& begins, Value row, Value column, Value sum) {
  const Value at = begins[2] + row * row_ + column * column_;
  if (!group_) return writer_.store(into_, at, sum);
  sum = kernel::rounded(dtype_, sum);
  group_->store(at, {&sum, 1});
}

void ProductResult::store(const std::vector<Value>& begins, Value row, Value column, std::span<const Value> sums) {
  const Value at = begins[2] + row * row_ + column;
  if (!group_) return writer_.store(into_, at, sums);
  std::vector<Value> elements;
  elements.reserve(sums.size());
  for (const Value sum : sums) elements.push_back(kernel::rounded(dtype_, sum));
  group_->store(at, elements);
}

Status emit_product(Emitter& emit, const View& a, const View& b, const View& c) {
  return emit_any(emit, ProductOperands{a, b, c});
}

Status emit_product(Emitter& emit, const View& a, const View& b, const ir::TensorType& type, const GroupPlan& group) {
  const View c{{}, type.dtype, type.shape, ir::contiguous_strides(type.shape)};
  allow_in_place(emit, group, {&a, &b});
  return emit_any(emit, ProductOperands{a, b, c, &group});
}

}  // namespace burn::compile::kernels
