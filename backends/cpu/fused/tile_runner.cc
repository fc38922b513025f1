#include "backends/cpu/fused/tile_runner.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include "backends/cpu/runtime/memory.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/simd/stream.h"
#include "backends/interrupt.h"

namespace burn::backends::cpu {
namespace {

std::int64_t bytes_of(ir::DType dtype) { return static_cast<std::int64_t>(ir::size_of(dtype)); }

struct Free {
  void operator()(std::byte* p) const { std::free(p); }
};

// Scratch memory for tiles. Up to kKept bytes belong to the thread and stay for the next run. More, which groups of
// very many values need, is allocated from the pool, where it is counted, and freed: otherwise every thread would keep
// the largest size ever needed.
class Scratch {
 public:
  // Throws std::bad_alloc, which fails the run.
  Scratch(std::size_t bytes, Pool& pool) {
    static constexpr std::size_t kKept = std::size_t{1} << 20;
    // Large arrays begin at pages, and a store delays loads from the same offset in another page: layer_norm took 1.1
    // times as long when the scratch memory began at a page, too.
    static constexpr std::size_t kPage = 4096, kBegin = 512;
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
      kept.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, (kBegin + bytes + kPage - 1) / kPage * kPage)));
      if (!kept) throw std::bad_alloc();
      kept_size = bytes;
    }
    block_ = kept.get() + kBegin;
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
  std::vector<float> carried(static_cast<std::size_t>(code_.carried));
  InterruptMeter meter;  // a unit may consist of any number of tiles
  for (auto tile = begin; tile < end; ++tile) {
    meter.add(code_.tile);
    const auto first = tile * code_.tile, n = std::min(code_.tile, code_.elements - first);
    const auto rows = n == code_.tile ? code_.rows_per_tile() : n / code_.row_size;
    run_tile({first, n, rows, at, totals, carried.data(), tile == begin, tile + 1 == end}, tile, moving, scratch);
  }
  if (code_.is_large) finish_streaming();
}

// Where each value is in the scratch memory; single numbers in place.
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
      const auto& place =
          value.stored_in_result >= 0 ? code_.values[static_cast<std::size_t>(value.stored_in_result)] : value;
      if (is_streamed(place) && !place.streamed_by_loop) continue;  // copied from the scratch
      moving.tracks.push_back({v, target(place, 0, 0), per_tile * bytes_of(place.stored)});
    } else if (auto& source = sources_[code_.source_of[v]]; !is_full) {
      at[v] = source.row(0);
      moving.tracks.push_back({v, at[v].data, per_tile * bytes_of(value.held)});
    } else if (const auto fixed_stride =
                   source.fixed_stride(code_.rows_at_once(), code_.tile / code_.rows_at_once(), value.needs_dense)) {
      at[v] = fixed_stride->first;
      at[v].tile_step = fixed_stride->step;
      moving.tracks.push_back({v, at[v].data, fixed_stride->step});
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

void TileRunner::run_tile(const Tile& here, std::int64_t tile, const Moving& moving,
                          const std::vector<Location>& scratch) {
  const auto begin = here.begin, n = here.n, row = tile * code_.rows_per_tile();
  auto& at = here.at;
  for (const auto& [v, data, step] : moving.tracks) at[v].data = data + tile * step;
  for (const auto v : moving.located)
    at[v] = sources_[code_.source_of[v]].locate(begin, n, code_.values[v].needs_dense, scratch[v].data);
  const TileInterpreter interpreter(code_, results_, seed_, random_offset_);
  for (const auto& in : code_.instructions) interpreter.execute(in, here);
  for (const auto v : code_.narrowed) {
    const auto& value = code_.values[v];
    const auto count = value.extent == Extent::full ? n : here.rows;
    cast_loop(value.held, value.stored)(count, target(value, begin, row), at[v].data, 1);
  }
  for (const auto v : code_.moving) {
    const auto& value = code_.values[v];
    if (value.result < 0 || !is_streamed(value) || value.streamed_by_loop) continue;
    stream_copy(target(value, begin, row), at[v].data, static_cast<std::size_t>(n * bytes_of(value.stored)));
  }
}

}  // namespace burn::backends::cpu
