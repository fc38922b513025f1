#include "backends/cpu/fused/tile_interpreter.h"

#include <algorithm>

#include "backends/cpu/kernels/random.h"

namespace burn::backends::cpu {
namespace {

std::int64_t bytes_of(ir::DType dtype) { return static_cast<std::int64_t>(ir::size_of(dtype)); }

// Calls body with an unsigned integer of that size: to move elements, their type need not be known.
template <typename Body>
void with_word(std::int64_t size, const Body& body) {
  switch (size) {
    case 1:
      return body(std::uint8_t{});
    case 2:
      return body(std::uint16_t{});
    case 4:
      return body(std::uint32_t{});
    default:
      return body(std::uint64_t{});
  }
}

}  // namespace

void TileInterpreter::execute(const TileInstruction& in, const Tile& tile) const {
  const auto place = [&](std::int32_t v) -> Location& { return tile.at[static_cast<std::size_t>(v)]; };
  const auto count = value(in.result).extent == Extent::full ? tile.n : tile.rows;
  switch (in.kind) {
    case TileInstruction::Kind::pointwise:
      return pointwise(in, count, tile);
    case TileInstruction::Kind::random:
      return random_floats(in.random_fn, seed_, random_offset_ + in.random_offset, in.random_begin + tile.begin, tile.n,
                           reinterpret_cast<float*>(place(in.result).data));
    case TileInstruction::Kind::convert:
      return convert(in, count, tile);
    case TileInstruction::Kind::round:
      in.cast(count, place(in.operands[1]).data, place(in.result).data, 1);
      return in.back(count, place(in.result).data, place(in.operands[1]).data, 1);
    case TileInstruction::Kind::sum:
      return sum(code_.sums[static_cast<std::size_t>(in.sum)], place(in.operands[0]).data, tile);
    case TileInstruction::Kind::reduce:
      return reduce(in, tile);
    case TileInstruction::Kind::row_sum:
      return row_sum(in, tile);
    case TileInstruction::Kind::centred_sum:
      return centred_sum(in, tile);
    case TileInstruction::Kind::repeat:
      return repeat(in, tile);
    case TileInstruction::Kind::pick:
      return pick(in, tile);
  }
}

void TileInterpreter::convert(const TileInstruction& in, std::int64_t count, const Tile& tile) const {
  const auto& from = tile.at[static_cast<std::size_t>(in.operands[0])];
  std::byte* to = tile.at[static_cast<std::size_t>(in.result)].data;
  if (!from.row_step) return in.cast(count, to, from.data, from.stride);
  const auto size = bytes_of(value(in.result).held) * code_.row_size;
  for (std::int64_t row = 0; row < tile.rows; ++row)
    in.cast(code_.row_size, to + row * size, from.data + row * *from.row_step, from.stride);
}

// Adds the tile's elements, which are at x, to the totals.
void TileInterpreter::sum(const TileSum& sum, const std::byte* x, const Tile& tile) const {
  auto n = tile.n;
  std::byte* const totals = tile.totals + sum.offset;
  if (sum.numbers == 1) return sum.loops.run(n, x, totals);
  const auto columns = sum.numbers;
  const auto size = static_cast<std::int64_t>(sum.source_size);
  const auto add = [&](std::int64_t rows, std::int64_t first, std::int64_t count) {
    for (std::int64_t done = 0; done < count; done += kMaxColumns) {
      sum.loops.rows(rows, columns, std::min(kMaxColumns, count - done), x + done * size,
                     totals + (first + done) * static_cast<std::int64_t>(sum.loops.total_size));
    }
    x += rows * count * size;
    n -= rows * count;
  };
  const auto first = tile.begin % columns;  // a tile may begin and end within a row
  if (first > 0) add(1, first, std::min(n, columns - first));
  if (n >= columns) add(n / columns, 0, columns);
  if (n > 0) add(1, 0, n);
}

// In one call, or row by row if an operand has one number per row, or rows that are not adjacent.
void TileInterpreter::pointwise(const TileInstruction& in, std::int64_t count, const Tile& tile) const {
  const auto& result = value(in.result);
  const auto loop = result.streamed_by_loop && is_streamed(result, results_) ? in.streaming_loop : in.loop;
  std::byte* to = tile.at[static_cast<std::size_t>(in.result)].data;
  const void* from[TileInstruction::kMaxOperands];
  std::int64_t strides[TileInstruction::kMaxOperands];
  std::int64_t steps[TileInstruction::kMaxOperands];
  bool by_row = false;
  for (int k = 0; k < in.arity; ++k) {
    const auto& place = tile.at[static_cast<std::size_t>(in.operands[k])];
    from[k] = place.data;
    strides[k] = place.stride;
    by_row |= place.row_step.has_value();
  }
  if (!by_row) return loop(count, to, from, strides);
  for (int k = 0; k < in.arity; ++k) {
    const auto v = static_cast<std::size_t>(in.operands[k]);
    steps[k] = tile.at[v].row_step.value_or(tile.at[v].stride * bytes_of(code_.values[v].held) * code_.row_size);
  }
  for (std::int64_t row = 0; row < tile.rows; ++row) {
    loop(code_.row_size, to, from, strides);
    to += code_.row_size * bytes_of(result.held);
    for (int k = 0; k < in.arity; ++k) from[k] = static_cast<const std::byte*>(from[k]) + steps[k];
  }
}

void TileInterpreter::reduce(const TileInstruction& in, const Tile& tile) const {
  const auto n = code_.row_size;
  std::byte* to = tile.at[static_cast<std::size_t>(in.result)].data;
  const std::byte* from[2];
  std::int64_t steps[2];
  bool by_row = false;
  for (int k = 0; k < in.arity; ++k) {
    const auto v = static_cast<std::size_t>(in.operands[k]);
    from[k] = tile.at[v].data;
    steps[k] = tile.at[v].row_step.value_or(n * bytes_of(code_.values[v].held));
    by_row |= tile.at[v].row_step.has_value();
  }
  const auto call = [&](std::int64_t count) {
    if (in.arity == 2) return in.dot(count, n, from[0], from[1], to);
    in.reduce.each(count, n, from[0], to);
  };
  if (!by_row) return call(tile.rows);
  for (std::int64_t row = 0; row < tile.rows; ++row) {
    call(1);
    to += bytes_of(value(in.result).held);
    for (int k = 0; k < in.arity; ++k) from[k] += steps[k];
  }
}

void TileInterpreter::row_sum(const TileInstruction& in, const Tile& tile) const {
  const auto& a = tile.at[static_cast<std::size_t>(in.operands[0])];
  const auto& b = tile.at[static_cast<std::size_t>(in.operands[in.arity - 1])];  // a again, if there is only one
  constexpr std::int64_t kSize = sizeof(float);
  in.row_sum(
      {.rows = tile.rows,
       .n = code_.row_size,
       .a = a.data,
       .b = b.data,
       .b_stride = b.stride,
       .ahead = a.tile_step,
       .steps = {a.row_step.value_or(code_.row_size * kSize), b.row_step.value_or(code_.row_size * b.stride * kSize)},
       .y = in.stored < 0 ? nullptr : reinterpret_cast<float*>(tile.at[static_cast<std::size_t>(in.stored)].data),
       .results = reinterpret_cast<float*>(tile.at[static_cast<std::size_t>(in.result)].data)});
}

void TileInterpreter::centred_sum(const TileInstruction& in, const Tile& tile) const {
  const auto& a = tile.at[static_cast<std::size_t>(in.operands[0])];
  const auto floats = [&](std::int32_t v) {
    return reinterpret_cast<float*>(tile.at[static_cast<std::size_t>(v)].data);
  };
  in.centred_sum({.rows = tile.rows,
                  .n = code_.row_size,
                  .a = a.data,
                  .step = a.row_step.value_or(code_.row_size * static_cast<std::int64_t>(sizeof(float))),
                  .next_tile = a.tile_step,
                  .divisor = in.arity == 2 ? *floats(in.operands[1]) : 1,
                  .carried = tile.carried + in.carried,
                  .starts = tile.starts || a.tile_step == 0,
                  .ends = tile.ends || a.tile_step == 0,
                  .y = in.stored < 0 ? nullptr : floats(in.stored),
                  .centres = floats(in.centre),
                  .results = floats(in.result)});
}

void TileInterpreter::repeat(const TileInstruction& in, const Tile& tile) const {
  const auto& from = tile.at[static_cast<std::size_t>(in.operands[0])];
  auto& to = tile.at[static_cast<std::size_t>(in.result)];
  const auto& repeated = value(in.result);
  if (!repeated.needs_dense && tile.rows == 1) {
    to = {from.data, 0};
    return;
  }
  if (!repeated.needs_dense && code_.has_long_rows()) {
    to = {from.data, 0, bytes_of(repeated.held)};
    return;
  }
  with_word(bytes_of(repeated.held), [&]<typename T>(T) {
    const auto* x = reinterpret_cast<const T*>(from.data);
    auto* y = reinterpret_cast<T*>(to.data);
    for (std::int64_t row = 0; row < tile.rows; ++row) std::fill_n(y + row * code_.row_size, code_.row_size, x[row]);
  });
}

void TileInterpreter::pick(const TileInstruction& in, const Tile& tile) const {
  const auto* index = reinterpret_cast<const std::int64_t*>(tile.at[static_cast<std::size_t>(in.operands[1])].data);
  const auto size = bytes_of(value(in.result).held);
  const auto& from = tile.at[static_cast<std::size_t>(in.operands[0])];
  const auto step = from.row_step.value_or(code_.row_size * size);
  with_word(size, [&]<typename T>(T) {
    auto* y = reinterpret_cast<T*>(tile.at[static_cast<std::size_t>(in.result)].data);
    for (std::int64_t row = 0; row < tile.rows; ++row)
      y[row] = reinterpret_cast<const T*>(from.data + row * step)[index[row]];
  });
}

}  // namespace burn::backends::cpu
