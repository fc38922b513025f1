#include "backends/cpu/fused/tile_runner.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "backends/cpu/memory.h"
#include "backends/cpu/ops/random.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/vector/stream.h"
#include "backends/interrupt.h"

namespace burn::backends::cpu {
namespace {

std::int64_t bytes_of(ir::DType dtype) { return static_cast<std::int64_t>(ir::size_of(dtype)); }

// Calls body with an unsigned integer of the size: whoever only moves elements need not know what they are.
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

struct Free {
  void operator()(std::byte* p) const { std::free(p); }
};

// Scratch for tiles. What is usual belongs to the thread and stays for the next run; more than that, which groups of
// very many values want, is of the pool, where it is counted, and goes back: else every thread would keep the largest
// there ever was.
class Scratch {
 public:
  // Throws std::bad_alloc, which fails the run.
  Scratch(std::size_t bytes, Pool& pool) {
    static constexpr std::size_t kKept = std::size_t{1} << 20;
    thread_local std::unique_ptr<std::byte, Free> kept;
    thread_local std::size_t kept_size = 0;
    if (bytes > kKept) {
      auto own = pool.allocate(bytes);
      if (!own.ok()) throw std::bad_alloc();
      own_ = *std::move(own);
      block_ = own_->data();
      return;
    }
    if (kept_size < bytes) {
      kept_size = 0;
      const auto size = (bytes + Pool::kAlignment - 1) / Pool::kAlignment * Pool::kAlignment;
      kept.reset(static_cast<std::byte*>(std::aligned_alloc(Pool::kAlignment, size)));
      if (!kept) throw std::bad_alloc();
      kept_size = size;
    }
    block_ = kept.get();
  }
  std::byte* block() const { return block_; }

 private:
  CpuBufferPtr own_;
  std::byte* block_ = nullptr;
};

}  // namespace

void TileRunner::run_units(std::int64_t begin, std::int64_t end) {
  if (code_.sums.empty()) return run_tiles(begin, end, nullptr);
  for (auto part = begin; part < end; ++part) {
    std::byte* totals = totals_->data() + part * code_.total_bytes;
    for (const auto& sum : code_.sums) sum.loops.fill(sum.numbers, totals + sum.offset);
    run_tiles(code_.tiles() * part / code_.parts, code_.tiles() * (part + 1) / code_.parts, totals);
  }
}

// Merges the parts' totals, in order, and stores them.
void TileRunner::finish() {
  for (const auto& sum : code_.sums) {
    const auto& value = code_.values[static_cast<std::size_t>(sum.value)];
    std::byte* result = results_[static_cast<std::size_t>(value.result)].data;
    const auto total_size = static_cast<std::int64_t>(sum.loops.total_size);
    parallel_for(sum.numbers, std::max(kMaxColumns, kGrain / code_.parts), [&](std::int64_t begin, std::int64_t end) {
      std::byte held[kMaxColumns * 8];
      for (auto first = begin; first < end; first += kMaxColumns) {
        const auto n = std::min(kMaxColumns, end - first);
        std::byte* totals = totals_->data() + sum.offset + first * total_size;
        for (std::int64_t part = 1; part < code_.parts; ++part)
          sum.loops.merge(n, totals + part * code_.total_bytes, totals);
        sum.loops.store(n, totals, held);
        cast_loop(value.held, value.stored)(n, result + first * bytes_of(value.stored), held, 1);
      }
    });
  }
}

void TileRunner::run_tiles(std::int64_t begin, std::int64_t end, std::byte* totals) {
  const Scratch own(static_cast<std::size_t>(code_.scratch_stride() * code_.full_bytes +
                                             code_.row_scratch_stride() * code_.row_bytes),
                    *pool_);
  std::vector<Location> at = places(own.block());
  const std::vector<Location> scratch = at;
  const Moving moving = follow(at);
  InterruptMeter meter;  // a unit may be any number of tiles
  for (auto tile = begin; tile < end; ++tile) {
    meter.add(code_.tile);
    run_tile(tile, moving, at, scratch, totals);
  }
  if (code_.is_large) finish_streaming();
}

// Where each value lies in the scratch; single numbers where they are.
std::vector<Location> TileRunner::places(std::byte* scratch) {
  std::byte* row_scratch = scratch + code_.scratch_stride() * code_.full_bytes;
  std::vector<Location> at(code_.values.size());
  for (std::size_t v = 0; v < at.size(); ++v) {
    const auto& value = code_.values[v];
    if (value.extent == Extent::uniform) {
      at[v] = sources_[code_.source_of[v]].only();
    } else if (value.scratch >= 0) {
      const bool is_full = value.extent == Extent::full;
      at[v].data = is_full ? scratch + value.scratch * code_.scratch_stride()
                           : row_scratch + value.scratch * code_.row_scratch_stride();
    }
  }
  return at;
}

TileRunner::Moving TileRunner::follow(std::vector<Location>& at) {
  Moving moving;
  moving.tracks.reserve(code_.moving.size());
  for (const auto v : code_.moving) {
    const auto& value = code_.values[v];
    const bool is_full = value.extent == Extent::full;
    const auto per_tile = is_full ? code_.tile : code_.rows_per_tile();
    if (value.read < 0) {
      const auto& place = value.lies_in >= 0 ? code_.values[static_cast<std::size_t>(value.lies_in)] : value;
      if (is_streamed(place) && !place.streams_itself) continue;  // copied from the scratch
      moving.tracks.push_back({v, target(place, 0, 0), per_tile * bytes_of(place.stored)});
    } else if (auto& source = sources_[code_.source_of[v]]; !is_full) {
      at[v] = source.row(0);
      moving.tracks.push_back({v, at[v].data, per_tile * bytes_of(value.held)});
    } else if (const auto even =
                   source.even(code_.rows_at_once(), code_.tile / code_.rows_at_once(), value.wants_all)) {
      at[v] = even->first;
      at[v].tile_step = even->step;
      moving.tracks.push_back({v, at[v].data, even->step});
    } else {
      moving.located.push_back(v);
    }
  }
  return moving;
}

std::byte* TileRunner::target(const TileValue& value, std::int64_t begin, std::int64_t row) const {
  const auto first = value.extent == Extent::full ? begin : row;
  return results_[static_cast<std::size_t>(value.result)].data + first * bytes_of(value.stored);
}

void TileRunner::run_tile(std::int64_t tile, const Moving& moving, std::vector<Location>& at,
                          const std::vector<Location>& scratch, std::byte* totals) {
  const auto begin = tile * code_.tile, n = std::min(code_.tile, code_.elements - begin);
  const auto row = tile * code_.rows_per_tile(), rows = n == code_.tile ? code_.rows_per_tile() : n / code_.row_size;
  for (const auto& [v, data, step] : moving.tracks) at[v].data = data + tile * step;
  for (const auto v : moving.located)
    at[v] = sources_[code_.source_of[v]].locate(begin, n, code_.values[v].wants_all, scratch[v].data);
  for (const auto& in : code_.instructions) execute(in, begin, n, rows, at, totals);
  for (const auto v : code_.narrowed) {
    const auto& value = code_.values[v];
    const auto count = value.extent == Extent::full ? n : rows;
    cast_loop(value.held, value.stored)(count, target(value, begin, row), at[v].data, 1);
  }
  for (const auto v : code_.moving) {
    const auto& value = code_.values[v];
    if (value.result < 0 || !is_streamed(value) || value.streams_itself) continue;
    stream_copy(target(value, begin, row), at[v].data, static_cast<std::size_t>(n * bytes_of(value.stored)));
  }
}

void TileRunner::execute(const TileInstruction& in, std::int64_t begin, std::int64_t n, std::int64_t rows,
                         std::vector<Location>& at, std::byte* totals) const {
  const auto place = [&](std::int32_t v) -> Location& { return at[static_cast<std::size_t>(v)]; };
  const auto count = code_.values[static_cast<std::size_t>(in.result)].extent == Extent::full ? n : rows;
  switch (in.kind) {
    case TileInstruction::Kind::pointwise:
      return pointwise(in, count, rows, at);
    case TileInstruction::Kind::random:
      return random_floats(in.random_fn, seed_, random_offset_ + in.random_offset, in.random_begin + begin, n,
                           reinterpret_cast<float*>(place(in.result).data));
    case TileInstruction::Kind::convert: {
      const auto& from = place(in.operands[0]);
      if (!from.row_step) return in.cast(count, place(in.result).data, from.data, from.stride);
      const auto size = bytes_of(code_.values[static_cast<std::size_t>(in.result)].held) * code_.row_size;
      for (std::int64_t row = 0; row < rows; ++row)
        in.cast(code_.row_size, place(in.result).data + row * size, from.data + row * *from.row_step, from.stride);
      return;
    }
    case TileInstruction::Kind::round:
      in.cast(count, place(in.operands[1]).data, place(in.result).data, 1);
      return in.back(count, place(in.result).data, place(in.operands[1]).data, 1);
    case TileInstruction::Kind::sum:
      return sum(code_.sums[static_cast<std::size_t>(in.sum)], place(in.operands[0]).data, begin, n, totals);
    case TileInstruction::Kind::reduce:
      return reduce(in, rows, at);
    case TileInstruction::Kind::row_sum:
      return row_sum(in, rows, at);
    case TileInstruction::Kind::repeat:
      return repeat(in, rows, at);
    case TileInstruction::Kind::pick:
      return pick(in, rows, at);
  }
}

// The elements [begin, begin + n) of the domain, which are at x.
void TileRunner::sum(const TileSum& sum, const std::byte* x, std::int64_t begin, std::int64_t n,
                     std::byte* totals) const {
  totals += sum.offset;
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
  const auto first = begin % columns;  // a tile may begin and end within a row
  if (first > 0) add(1, first, std::min(n, columns - first));
  if (n >= columns) add(n / columns, 0, columns);
  if (n > 0) add(1, 0, n);
}

// In one call, or row by row where an operand is one number for each row, or rows that do not follow one another.
void TileRunner::pointwise(const TileInstruction& in, std::int64_t count, std::int64_t rows,
                           const std::vector<Location>& at) const {
  const auto& result = code_.values[static_cast<std::size_t>(in.result)];
  const auto loop = result.streams_itself && is_streamed(result) ? in.streaming_loop : in.loop;
  std::byte* to = at[static_cast<std::size_t>(in.result)].data;
  const void* from[TileInstruction::kMaxOperands];
  std::int64_t strides[TileInstruction::kMaxOperands];
  std::int64_t steps[TileInstruction::kMaxOperands];
  bool by_row = false;
  for (int k = 0; k < in.arity; ++k) {
    const auto& place = at[static_cast<std::size_t>(in.operands[k])];
    from[k] = place.data;
    strides[k] = place.stride;
    by_row |= place.row_step.has_value();
  }
  if (!by_row) return loop(count, to, from, strides);
  for (int k = 0; k < in.arity; ++k) {
    const auto v = static_cast<std::size_t>(in.operands[k]);
    steps[k] = at[v].row_step.value_or(at[v].stride * bytes_of(code_.values[v].held) * code_.row_size);
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    loop(code_.row_size, to, from, strides);
    to += code_.row_size * bytes_of(result.held);
    for (int k = 0; k < in.arity; ++k) from[k] = static_cast<const std::byte*>(from[k]) + steps[k];
  }
}

void TileRunner::reduce(const TileInstruction& in, std::int64_t rows, const std::vector<Location>& at) const {
  const auto n = code_.row_size;
  std::byte* to = at[static_cast<std::size_t>(in.result)].data;
  const std::byte* from[2];
  std::int64_t steps[2];
  bool by_row = false;
  for (int k = 0; k < in.arity; ++k) {
    const auto v = static_cast<std::size_t>(in.operands[k]);
    from[k] = at[v].data;
    steps[k] = at[v].row_step.value_or(n * bytes_of(code_.values[v].held));
    by_row |= at[v].row_step.has_value();
  }
  const auto call = [&](std::int64_t count) {
    if (in.arity == 2) return in.dot(count, n, from[0], from[1], to);
    in.reduce.each(count, n, from[0], to);
  };
  if (!by_row) return call(rows);
  for (std::int64_t row = 0; row < rows; ++row) {
    call(1);
    to += bytes_of(code_.values[static_cast<std::size_t>(in.result)].held);
    for (int k = 0; k < in.arity; ++k) from[k] += steps[k];
  }
}

void TileRunner::row_sum(const TileInstruction& in, std::int64_t rows, const std::vector<Location>& at) const {
  const auto& a = at[static_cast<std::size_t>(in.operands[0])];
  const auto& b = at[static_cast<std::size_t>(in.operands[in.arity - 1])];  // a again, where there is only one
  constexpr std::int64_t kSize = sizeof(float);
  in.row_sum(
      {.rows = rows,
       .n = code_.row_size,
       .a = a.data,
       .b = b.data,
       .b_stride = b.stride,
       .ahead = a.tile_step,
       .steps = {a.row_step.value_or(code_.row_size * kSize), b.row_step.value_or(code_.row_size * b.stride * kSize)},
       .y = in.stored < 0 ? nullptr : reinterpret_cast<float*>(at[static_cast<std::size_t>(in.stored)].data),
       .results = reinterpret_cast<float*>(at[static_cast<std::size_t>(in.result)].data)});
}

void TileRunner::repeat(const TileInstruction& in, std::int64_t rows, std::vector<Location>& at) const {
  const auto& from = at[static_cast<std::size_t>(in.operands[0])];
  auto& to = at[static_cast<std::size_t>(in.result)];
  const auto& value = code_.values[static_cast<std::size_t>(in.result)];
  if (!value.wants_all && rows == 1) {
    to = {from.data, 0};
    return;
  }
  if (!value.wants_all && code_.has_long_rows()) {
    to = {from.data, 0, bytes_of(value.held)};
    return;
  }
  with_word(bytes_of(value.held), [&]<typename T>(T) {
    const auto* x = reinterpret_cast<const T*>(from.data);
    auto* y = reinterpret_cast<T*>(to.data);
    for (std::int64_t row = 0; row < rows; ++row) std::fill_n(y + row * code_.row_size, code_.row_size, x[row]);
  });
}

void TileRunner::pick(const TileInstruction& in, std::int64_t rows, const std::vector<Location>& at) const {
  const auto* index = reinterpret_cast<const std::int64_t*>(at[static_cast<std::size_t>(in.operands[1])].data);
  const auto size = bytes_of(code_.values[static_cast<std::size_t>(in.result)].held);
  const auto& from = at[static_cast<std::size_t>(in.operands[0])];
  const auto step = from.row_step.value_or(code_.row_size * size);
  with_word(size, [&]<typename T>(T) {
    auto* y = reinterpret_cast<T*>(at[static_cast<std::size_t>(in.result)].data);
    for (std::int64_t row = 0; row < rows; ++row)
      y[row] = reinterpret_cast<const T*>(from.data + row * step)[index[row]];
  });
}

}  // namespace burn::backends::cpu
