#include <algorithm>
#include <utility>
#include <vector>

#include "backends/cpu/kernels/cast.h"
#include "backends/cpu/kernels/combine.h"
#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/kernels/lines.h"
#include "backends/cpu/simd/prefix_sums.h"
#include "ir/dispatch.h"

namespace burn::backends::cpu {
namespace {

// Long sums of f32 run in double.
template <typename Op, typename T>
using Running = std::conditional_t<Op::kWidens && std::is_same_v<T, float>, double, T>;

// A line, or a part of one that continues from `before`.
template <typename Op, typename T>
struct Segment {
  const T* x;
  T* y;
  bool continues = false;
  Running<Op, T> before{};
};

// Scans several segments of n elements at once: an addition waits for the previous one of its line, but not for those
// of other lines. Without kStores, the last total of each becomes its `before`.
template <int kCount, bool kStores, typename Op, typename T>
void scan_segments(std::int64_t n, Segment<Op, T>* segments) {
  Running<Op, T> totals[kCount];
  for (int s = 0; s < kCount; ++s) {
    const auto& segment = segments[s];
    const auto first = static_cast<Running<Op, T>>(segment.x[0]);
    totals[s] = segment.continues ? Op::combine(segment.before, first) : first;
    if constexpr (kStores) segment.y[0] = static_cast<T>(totals[s]);
  }
  for (std::int64_t i = 1; i < n; ++i) {
    for (int s = 0; s < kCount; ++s) {
      totals[s] = Op::combine(totals[s], static_cast<Running<Op, T>>(segments[s].x[i]));
      if constexpr (kStores) segments[s].y[i] = static_cast<T>(totals[s]);
    }
  }
  for (int s = 0; s < kCount; ++s) segments[s].before = totals[s];
}

// Scans one segment. Sums of f32 are vectorised.
template <bool kStores, typename Op, typename T>
void scan_segment(std::int64_t n, Segment<Op, T>& segment) {
  if constexpr (kStores && std::is_same_v<Op, Sum> && std::is_same_v<T, float>) {
    segment.before = prefix_sums(n, segment.continues ? segment.before : 0.0, segment.x, segment.y);
  } else {
    scan_segments<1, kStores>(n, &segment);
  }
}

// Scans `count` segments of n elements each, which at(i) returns, on several threads. Calls done(i, total) after each.
template <bool kStores, typename Op, typename T, typename At, typename Done>
void scan_all(std::int64_t count, std::int64_t n, const At& at, const Done& done) {
  constexpr std::int64_t kTogether = 4;
  constexpr bool kInVectors = kStores && std::is_same_v<Op, Sum> && std::is_same_v<T, float>;
  parallel_for((count + kTogether - 1) / kTogether, kGrain / (n * kTogether) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 InterruptMeter meter;
                 for (auto first = begin * kTogether; first < std::min(count, end * kTogether); first += kTogether) {
                   meter.add(n * kTogether);
                   const auto some = std::min(kTogether, count - first);
                   Segment<Op, T> segments[kTogether];
                   for (std::int64_t s = 0; s < some; ++s) segments[s] = at(first + s);
                   if (some == kTogether && !kInVectors) {
                     scan_segments<kTogether, kStores>(n, segments);
                   } else {
                     for (std::int64_t s = 0; s < some; ++s) scan_segment<kStores>(n, segments[s]);
                   }
                   for (std::int64_t s = 0; s < some; ++s) done(first + s, segments[s].before);
                 }
               });
}

// Scans a few long lines in blocks: computes the totals of all blocks, what precedes each block, and then the blocks
// from there. The blocks depend only on the sizes, so that sums do not depend on the number of threads.
template <typename Op, typename T>
void scan_long_lines(const Lines& lines, std::int64_t block, const T* x, T* y) {
  const auto blocks = lines.size / block, rest = lines.size % block, count = lines.count() * blocks;
  const auto segment_at = [&](std::int64_t line, std::int64_t b) {
    const auto at = lines.start(line) + b * block;
    return Segment<Op, T>{x + at, y + at};
  };
  const auto ignore = [](std::int64_t, const auto&) {};
  std::vector<Running<Op, T>> before(static_cast<std::size_t>(count));
  scan_all<false, Op, T>(
      count, block, [&](std::int64_t i) { return segment_at(i / blocks, i % blocks); },
      [&](std::int64_t i, const auto& total) { before[static_cast<std::size_t>(i)] = total; });
  std::vector<Running<Op, T>> whole;
  for (std::int64_t line = 0; line < lines.count(); ++line) {
    Running<Op, T> sum{};
    for (std::int64_t b = 0; b < blocks; ++b) {
      auto& own = before[static_cast<std::size_t>(line * blocks + b)];
      const auto next = b > 0 ? Op::combine(sum, own) : own;
      own = std::exchange(sum, next);
    }
    whole.push_back(sum);
  }
  scan_all<true, Op, T>(
      count, block,
      [&](std::int64_t i) {
        auto segment = segment_at(i / blocks, i % blocks);
        segment.continues = i % blocks > 0;
        segment.before = before[static_cast<std::size_t>(i)];
        return segment;
      },
      ignore);
  if (rest == 0) return;
  scan_all<true, Op, T>(
      lines.count(), rest,
      [&](std::int64_t line) {
        auto segment = segment_at(line, blocks);
        segment.continues = true;
        segment.before = whole[static_cast<std::size_t>(line)];
        return segment;
      },
      ignore);
}

// Lines without gaps.
template <typename Op, typename T>
void scan_lines(const Lines& lines, const T* x, T* y) {
  constexpr std::int64_t kBlock = 8192, kFew = 16;
  if (lines.count() < kFew && lines.size >= 4 * kBlock) return scan_long_lines<Op>(lines, kBlock, x, y);
  scan_all<true, Op, T>(
      lines.count(), lines.size,
      [&](std::int64_t line) {
        return Segment<Op, T>{x + lines.start(line), y + lines.start(line)};
      },
      [](std::int64_t, const auto&) {});
}

// Columns side by side, so that memory is read in order.
template <typename Op, typename T>
void scan_columns(const Lines& lines, std::int64_t first_line, std::int64_t columns, const T* x, T* y) {
  constexpr std::int64_t kMaxColumns = 256;
  Running<Op, T> totals[kMaxColumns];
  InterruptMeter meter;
  for (std::int64_t done = 0; done < columns; done += kMaxColumns) {
    const auto start = lines.start(first_line + done), width = std::min(kMaxColumns, columns - done);
    for (std::int64_t i = 0; i < lines.size; ++i) {
      meter.add(width);
      const T* row = x + start + i * lines.inner;
      T* out = y + start + i * lines.inner;
      for (std::int64_t c = 0; c < width; ++c) {
        totals[c] = i == 0 ? Running<Op, T>(row[c]) : Op::combine(totals[c], static_cast<Running<Op, T>>(row[c]));
        out[c] = static_cast<T>(totals[c]);
      }
    }
  }
}

template <typename Op, typename T>
void scan_as(const Lines& lines, const T* x, T* y) {
  if (lines.inner == 1) return scan_lines<Op>(lines, x, y);
  parallel_for(lines.count(), kGrain / lines.size + 1, [&](std::int64_t begin, std::int64_t end) {
    while (begin < end) {
      const auto columns = std::min(end - begin, lines.inner - begin % lines.inner);
      scan_columns<Op>(lines, begin, columns, x, y);
      begin += columns;
    }
  });
}

template <typename Op, typename T>
void scan(const Lines& lines, const T* x, T* y) {
  using Bits = same_bits_t<Op, T>;
  scan_as<Op>(lines, reinterpret_cast<const Bits*>(x), reinterpret_cast<Bits*>(y));
}

template <typename T>
void scan(ir::ReduceFn fn, const Lines& lines, const T* x, T* y) {
  switch (fn) {
    case ir::ReduceFn::sum:
      return scan<Sum>(lines, x, y);
    case ir::ReduceFn::prod:
      return scan<Prod>(lines, x, y);
    case ir::ReduceFn::max:
      return scan<Max>(lines, x, y);
    case ir::ReduceFn::min:
      return scan<Min>(lines, x, y);
  }
}

}  // namespace

namespace kernels {

Result<Kernel> prepare(const ir::Scan& op, const Signature&) {
  return Kernel([op](Run& run, std::span<Array> operands) -> Result<Array> {
    BURN_TRY(const Array row_major, contiguous(run, operands[0]));
    BURN_TRY(const Array x, cast(run, row_major, compute_dtype(row_major.dtype())));
    BURN_TRY(Array y, run.allocate(x.type()));
    if (x.num_elements() == 0) return cast(run, y, operands[0].dtype());
    const Lines lines(x.shape(), op.axis);
    ir::dispatch(x.dtype(), [&]<typename T>() {
      if constexpr (std::is_same_v<T, bool>)
        scan(op.fn, lines, x.as<std::uint8_t>(), y.as<std::uint8_t>());
      else if constexpr (std::is_arithmetic_v<T>)
        scan(op.fn, lines, x.as<T>(), y.as<T>());
    });
    return cast(run, y, operands[0].dtype());
  });
}

}  // namespace kernels
}  // namespace burn::backends::cpu
