#include "backends/cpu/fused/fused_kernel.h"

#include <algorithm>

#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/kernels/index.h"
#include "backends/cpu/runtime/parallel.h"

namespace burn::backends::cpu {
namespace {

// The source from which tiles read an operand. Numbers per row, and single numbers, are converted to their held type
// here, all at once: they are few.
Result<TileSource> source_of(Run& run, Array& x, const TileValue& value) {
  if (value.extent == Extent::full) return TileSource(x, value.held);
  if (value.index_size >= 0) {
    BURN_TRY(Array index, checked_index(run, x, value.index_size));
    BURN_TRY(index, contiguous(run, index));
    return TileSource(std::move(index));
  }
  BURN_TRY(Array held, cast(run, x, value.held));
  BURN_TRY(held, contiguous(run, held));
  return TileSource(std::move(held));
}

// The member of the first instruction that reads the value.
std::int32_t first_reader(const TileCode& code, std::int32_t value) {
  for (const auto& in : code.instructions) {
    if (std::find(in.operands, in.operands + in.arity, value) != in.operands + in.arity) return in.node;
  }
  return code.instructions.front().node;
}

}  // namespace

Result<BoundGroup> FusedKernel::bind(Run& run, std::span<Array> reads, std::int32_t* failed_member) const {
  const auto& code = *code_;
  std::vector<TileSource> sources;
  sources.reserve(code.values.size());
  for (std::size_t v = 0; v < code.values.size(); ++v) {
    const auto& value = code.values[v];
    if (value.read < 0) continue;
    auto source = source_of(run, reads[static_cast<std::size_t>(value.read)], value);
    if (!source.ok()) {
      *failed_member = first_reader(code, static_cast<std::int32_t>(v));
      return source.status();
    }
    sources.push_back(*std::move(source));
  }

  std::vector<Array> results;
  std::vector<TileTarget> targets;
  results.reserve(result_types_.size());
  for (std::size_t r = 0; r < result_types_.size(); ++r) {
    const auto over = code.overwrites[r];
    const bool overwrites = over >= 0 && may_overwrite(reads[static_cast<std::size_t>(over)]);
    if (overwrites) {
      results.emplace_back(result_types_[r], reads[static_cast<std::size_t>(over)].buffer());
    } else {
      auto fresh = run.allocate(result_types_[r]);
      if (!fresh.ok()) {
        *failed_member = code.instructions.front().node;
        return fresh.status();
      }
      results.push_back(*std::move(fresh));
    }
    targets.push_back({results.back().data(), code.is_large && !overwrites});
  }
  CpuBufferPtr totals;
  if (const auto bytes = TileRunner::total_bytes(code); bytes > 0) {
    auto fresh = run.pool.allocate(static_cast<std::size_t>(bytes));
    if (!fresh.ok()) {
      *failed_member = code.instructions.front().node;
      return fresh.status();
    }
    totals = *std::move(fresh);
  }
  return BoundGroup{TileRunner(code, std::move(sources), std::move(targets), std::move(totals), run),
                    std::move(results)};
}

std::size_t FusedKernel::memory_bytes() const {
  const auto& code = *code_;
  const auto shared =
      sizeof code + code.values.capacity() * sizeof(TileValue) +
      code.instructions.capacity() * sizeof(TileInstruction) + code.overwrites.capacity() * sizeof(std::int32_t) +
      (code.source_of.capacity() + code.moving.capacity() + code.narrowed.capacity()) * sizeof(std::size_t) +
      code.sums.capacity() * sizeof(TileSum);
  return sizeof *this + shared / static_cast<std::size_t>(std::max<long>(code_.use_count(), 1)) +
         result_types_.capacity() * sizeof(ir::TensorType);
}

void run_together(std::span<BoundGroup> groups) {
  std::int64_t units = 0, work = 0;
  for (const auto& group : groups) {
    const auto& code = group.runner.code();
    units += code.units();
    work += code.elements * code.cost;
  }
  const auto grain = std::max<std::int64_t>(1, kGrain * units / std::max<std::int64_t>(work, 1));
  parallel_for(units, grain, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t first = 0;  // the group's first unit
    for (auto& group : groups) {
      const auto count = group.runner.code().units();
      const auto from = std::max(begin, first), to = std::min(end, first + count);
      if (from < to) group.runner.run_units(from - first, to - first);
      first += count;
    }
  });
  for (auto& group : groups) group.runner.finish();
}

}  // namespace burn::backends::cpu
