#include <algorithm>
#include <vector>

#include "backends/cpu/kernels/combine.h"
#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/simd/reduce_table.h"
#include "backends/interrupt.h"
#include "ir/dispatch.h"

namespace burn::backends::cpu {
namespace {

template <typename T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;

}  // namespace
}  // namespace burn::backends::cpu

#define BURN_ISA_FILE "backends/cpu/simd/reduce_loops.h"
#include "backends/cpu/simd/foreach.h"

namespace burn::backends::cpu {
namespace {

struct Loop {
  std::int64_t size, stride;  // elements
};
using Loops = std::vector<Loop>;  // outermost first

std::int64_t product(const Loops& loops) {
  std::int64_t count = 1;
  for (const auto& loop : loops) count *= loop.size;
  return count;
}

// Calls body(offset) for every combination of indices, in row-major order.
template <typename Body>
void for_each_offset(std::span<const Loop> loops, std::int64_t offset, const Body& body) {
  if (loops.empty()) return body(offset);
  for (std::int64_t i = 0; i < loops[0].size; ++i)
    for_each_offset(loops.subspan(1), offset + i * loops[0].stride, body);
}

// A reduction as loops over the kept dims around loops over the reduced ones. The innermost loop of one kind is
// contiguous: if it is a reduced one, runs are reduced one by one; if it is a kept one, whole rows are combined.
struct Layout {
  Loops kept, reduced;
  bool rows = false;

  static Layout of(const Array& x, const ir::Dims& axes) {
    Layout layout;
    bool last_reduced = false;
    for (int i = 0; i < x.rank(); ++i) {
      if (x.shape()[i] == 1) continue;
      const bool is_reduced = axes.contains(i);
      auto& loops = is_reduced ? layout.reduced : layout.kept;
      const Loop loop{x.shape()[i], x.strides()[i]};
      const bool adjacent = !loops.empty() && is_reduced == last_reduced;
      if (adjacent && loops.back().stride == loop.stride * loop.size) {
        loops.back() = {loops.back().size * loop.size, loop.stride};
      } else {
        loops.push_back(loop);
      }
      last_reduced = is_reduced;
    }
    return layout;
  }

  // Finds the contiguous loop; false if there is none that can be made innermost.
  bool choose_inner() {
    rows = !kept.empty() && kept.back().stride == 1;
    if (rows) {
      if (reduced.empty()) reduced.push_back({1, 0});
      return true;
    }
    if (reduced.empty()) reduced.push_back({1, 1});
    const auto inner = std::ranges::find(reduced, 1, &Loop::stride);
    if (inner == reduced.end()) return false;
    std::rotate(inner, inner + 1, reduced.end());
    return true;
  }
};

class Reduction {
 public:
  Reduction(const ReduceLoops& loops, ir::DType from, ir::DType to, Layout layout)
      : loops_(loops),
        element_size_(static_cast<std::int64_t>(ir::size_of(from))),
        result_size_(static_cast<std::int64_t>(ir::size_of(to))),
        layout_(std::move(layout)) {}

  Status run(Run& run, const std::byte* x, std::byte* y) const {
    const auto outputs = product(layout_.kept), per_output = product(layout_.reduced);
    if (outputs == 0) return {};
    if (per_output == 0) {
      each_tile(0, outputs, y, [](std::int64_t, std::int64_t, void*) {});
      return {};
    }
    if (outputs < (layout_.rows ? kManyColumns : kManyOutputs) && outputs * per_output >= 4 * kGrain)
      return run_in_parts(run, x, y, outputs, per_output);
    const auto grain = std::max(layout_.rows ? column_grain(outputs) : 1, kGrain / per_output);
    parallel_for(outputs, grain, [&](std::int64_t begin, std::int64_t end) {
      each_tile(begin, end, y, [&](std::int64_t first, std::int64_t last, void* totals) {
        reduce(layout_.reduced, x, first, last, totals);
      });
    });
    return {};
  }

 private:
  static constexpr std::int64_t kManyOutputs = 64;  // enough to keep the threads busy
  static constexpr std::int64_t kManyColumns = kMaxColumns;
  static_assert(kManyOutputs <= kMaxColumns);

  // Columns that one thread combines at once, if possible: it reads only that range of each row, and a line or two of
  // every row are read at a quarter of the speed of half a row.
  static std::int64_t column_grain(std::int64_t columns) {
    return std::clamp<std::int64_t>(columns / (std::int64_t{2} * thread_count()), 64, 256);
  }

  // Calls body(first, last, totals) for parts of the outputs [begin, end), and stores the totals.
  template <typename Body>
  void each_tile(std::int64_t begin, std::int64_t end, std::byte* y, const Body& body) const {
    alignas(64) std::byte totals[kMaxColumns * 8];
    for (auto first = begin; first < end; first += kMaxColumns) {
      const auto last = std::min(end, first + kMaxColumns);
      loops_.fill(last - first, totals);
      body(first, last, totals);
      loops_.store(last - first, totals, y + first * result_size_);
    }
  }

  // The longest reduced loop; but contiguous runs stay whole if the other loops are long enough to cut.
  std::size_t loop_to_cut(std::int64_t parts) const {
    const auto& loops = layout_.reduced;
    const auto longest = [&](auto end) { return std::ranges::max_element(loops.begin(), end, {}, &Loop::size); };
    auto cut = longest(loops.end());
    if (!layout_.rows && loops.size() > 1) {
      const auto around = longest(loops.end() - 1);
      if (around->size >= std::min<std::int64_t>(parts, 16)) cut = around;
    }
    return static_cast<std::size_t>(cut - loops.begin());
  }

  // For few outputs of many elements: parts of one reduced loop are reduced side by side, then merged in order. The
  // number of parts depends only on the sizes, so the result does not depend on the number of threads.
  Status run_in_parts(Run& run, const std::byte* x, std::byte* y, std::int64_t outputs, std::int64_t per_output) const {
    const auto wanted = std::min<std::int64_t>(outputs * per_output / (2 * kGrain), 64);
    const auto cut = loop_to_cut(wanted);
    const Loop whole = layout_.reduced[cut];
    const auto parts = std::min(wanted, whole.size);
    const auto part_bytes = outputs * static_cast<std::int64_t>(loops_.total_size);
    BURN_TRY(auto scratch, run.pool.allocate(static_cast<std::size_t>(parts * part_bytes)));
    parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto part = begin; part < end; ++part) {
        const auto first = whole.size / parts * part + std::min(part, whole.size % parts);
        Loops reduced = layout_.reduced;
        reduced[cut].size = whole.size / parts + (part < whole.size % parts ? 1 : 0);
        std::byte* totals = scratch->data() + part * part_bytes;
        loops_.fill(outputs, totals);
        reduce(reduced, x + first * whole.stride * element_size_, 0, outputs, totals);
      }
    });
    for (std::int64_t part = 1; part < parts; ++part) {
      loops_.merge(outputs, scratch->data() + part * part_bytes, scratch->data());
    }
    loops_.store(outputs, scratch->data(), y);
    return {};
  }

  // Adjacent outputs that are computed together: one, or a part of a row.
  struct Piece {
    std::int64_t columns, offset;
    std::byte* total;
  };

  // Outputs [first, last) into totals[0], ... Requires: last - first <= kMaxColumns.
  void reduce(const Loops& reduced, const std::byte* x, std::int64_t first, std::int64_t last, void* totals) const {
    Piece pieces[kMaxColumns];
    std::int64_t count = 0;
    auto* total = static_cast<std::byte*>(totals);
    for (auto output = first; output < last; ++count) {
      const auto row = layout_.rows ? layout_.kept.back().size : 1;
      const auto columns = std::min(last - output, row - output % row);
      pieces[count] = {columns, kept_offset(output), total};
      output += columns;
      total += columns * static_cast<std::int64_t>(loops_.total_size);
    }

    const std::span outer(reduced.data(), reduced.size() - 1);
    const Loop inner = reduced.back();
    InterruptMeter meter;  // a view may repeat its numbers 2^50 times
    const auto add_rows = [&](const Piece& piece, const std::byte* from) {
      constexpr std::int64_t kAtOnce = std::int64_t{1} << 26;  // elements
      const auto most = std::max<std::int64_t>(1, kAtOnce / piece.columns);
      for (std::int64_t row = 0; row < inner.size; row += most) {
        const auto rows = std::min(most, inner.size - row);
        meter.add(rows * piece.columns);
        loops_.rows(rows, inner.stride, piece.columns, from + row * inner.stride * element_size_, piece.total);
      }
    };
    const auto add = [&](const Piece& piece, std::int64_t offset) {
      const std::byte* from = x + (piece.offset + offset) * element_size_;
      if (layout_.rows) return add_rows(piece, from);
      meter.add(inner.size);
      loops_.run(inner.size, from, piece.total);
    };
    // In the order of the elements in memory.
    const bool outer_first = !outer.empty() && !layout_.kept.empty() && outer[0].stride > layout_.kept[0].stride;
    if (outer_first) {
      for_each_offset(outer, 0, [&](std::int64_t offset) {
        for (std::int64_t i = 0; i < count; ++i) add(pieces[i], offset);
      });
    } else {
      for (std::int64_t i = 0; i < count; ++i) {
        for_each_offset(outer, 0, [&](std::int64_t offset) { add(pieces[i], offset); });
      }
    }
  }

  std::int64_t kept_offset(std::int64_t output) const {
    std::int64_t offset = 0;
    for (std::size_t i = layout_.kept.size(); i-- > 0;) {
      offset += output % layout_.kept[i].size * layout_.kept[i].stride;
      output /= layout_.kept[i].size;
    }
    return offset;
  }

  ReduceLoops loops_;
  std::int64_t element_size_, result_size_;
  Layout layout_;
};

}  // namespace

DotLoop dot_loop() { return BURN_BEST(sum_products_each); }

ReduceLoops reduce_loops(ir::ReduceFn fn, ir::DType dtype, ir::DType result) {
  return BURN_BEST(find_loops)(fn, dtype, result);
}

namespace kernels {

Result<Kernel> prepare(const ir::Reduce& op, const Signature& signature) {
  const auto loops = reduce_loops(op.fn, signature.operands[0]->dtype, signature.result.dtype);
  return Kernel([axes = op.axes, type = signature.result, loops](Run& run, std::span<Array> operands) -> Result<Array> {
    Array x = operands[0];
    auto layout = Layout::of(x, axes);
    if (!layout.choose_inner()) {
      BURN_TRY(x, contiguous(run, x));
      layout = Layout::of(x, axes);
      layout.choose_inner();
    }
    BURN_TRY(Array y, run.allocate(type));
    BURN_RETURN_IF_ERROR(Reduction(loops, x.dtype(), type.dtype, std::move(layout)).run(run, x.data(), y.data()));
    return y;
  });
}

}  // namespace kernels
}  // namespace burn::backends::cpu
