// Resizes images, in either direction: every result is a sum over some elements of a line, along the width and then
// along the height. Which elements and with what weights is in tables, made once; those of the gradient are transposed.
#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "backends/cpu/kernels/cast.h"
#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/run.h"
#include "backends/interrupt.h"
#include "ir/semantics/interpolation.h"

#define BURN_ISA_FILE "backends/cpu/simd/resize_loops.h"
#include "backends/cpu/simd/foreach.h"

namespace burn::backends::cpu {
namespace {

// Results o = sum over k in [first[o], first[o + 1]) of weight[k] x[index[k]].
template <typename T>
struct Table {
  std::vector<std::int64_t> first{0};
  std::vector<std::int32_t> index;
  std::vector<T> weight;

  std::int64_t size() const { return static_cast<std::int64_t>(first.size()) - 1; }
  std::int64_t begin(std::int64_t o) const { return first[static_cast<std::size_t>(o)]; }
  std::int64_t end(std::int64_t o) const { return first[static_cast<std::size_t>(o) + 1]; }
  // The elements [begin, end) that results [from, to) are made of.
  std::pair<std::int64_t, std::int64_t> reach(std::int64_t from, std::int64_t to) const {
    const auto [low, high] = std::minmax_element(index.begin() + begin(from), index.begin() + end(to - 1));
    return begin(from) == end(to - 1) ? std::pair<std::int64_t, std::int64_t>{0, 0}
                                      : std::pair<std::int64_t, std::int64_t>{*low, *high + 1};
  }
};

constexpr std::int64_t kTapsUnits = 128;  // of an InterruptMeter, for the taps of one result

std::int64_t most_taps(const ir::LineInterpolation& line) {
  switch (line.mode) {
    case ir::InterpolateMode::nearest:
    case ir::InterpolateMode::nearest_exact:
      return 1;
    case ir::InterpolateMode::bilinear:
      return 2;
    case ir::InterpolateMode::bicubic:
      return 4;
    case ir::InterpolateMode::lanczos3:
      break;
  }
  return ir::Taps::kMax;
}

// Maximum bytes of the tables of one line: the forward one, its transpose, and the interior results of either.
template <typename T>
std::uint64_t table_bytes(const ir::LineInterpolation& line) {
  constexpr std::uint64_t kTables = 3, kEntry = sizeof(std::int32_t) + sizeof(T);
  const auto starts = static_cast<std::uint64_t>(2 * (line.input + 1) + line.output + 1);
  return kTables * kEntry * static_cast<std::uint64_t>(line.output * most_taps(line)) + sizeof(std::int64_t) * starts;
}

template <typename T>
Table<T> forward_table(const ir::LineInterpolation& line) {
  Table<T> table;
  const auto entries = static_cast<std::size_t>(line.output * most_taps(line));
  table.first.reserve(static_cast<std::size_t>(line.output) + 1);
  table.index.reserve(entries);
  table.weight.reserve(entries);
  InterruptMeter meter;
  for (std::int64_t o = 0; o < line.output; ++o) {
    meter.add(kTapsUnits);
    const auto taps = line.taps(o);
    for (int k = 0; k < taps.count; ++k) {
      table.index.push_back(static_cast<std::int32_t>(taps.index[k]));
      table.weight.push_back(static_cast<T>(taps.weight[k]));
    }
    table.first.push_back(static_cast<std::int64_t>(table.index.size()));
  }
  return table;
}

template <typename T>
Table<T> transposed(const Table<T>& table, std::int64_t size) {
  Table<T> result;
  result.first.assign(static_cast<std::size_t>(size) + 1, 0);
  for (const auto i : table.index) ++result.first[static_cast<std::size_t>(i) + 1];
  for (std::size_t i = 1; i < result.first.size(); ++i) result.first[i] += result.first[i - 1];
  result.index.resize(table.index.size());
  result.weight.resize(table.weight.size());
  auto next = result.first;
  for (std::int64_t o = 0; o < table.size(); ++o) {
    for (auto k = table.begin(o); k < table.end(o); ++k) {
      const auto from = static_cast<std::size_t>(k);
      const auto to = static_cast<std::size_t>(next[static_cast<std::size_t>(table.index[from])]++);
      result.index[to] = static_cast<std::int32_t>(o);
      result.weight[to] = table.weight[from];
    }
  }
  return result;
}

// The results in the interior of a line that have equally many taps, stored tap by tap for loops that compute several
// results at once; results at the ends are computed with the table.
template <typename T>
struct InteriorResults {
  std::int64_t begin = 0, end = 0, taps = 0;
  std::vector<std::int32_t> index;
  std::vector<T> weight;

  explicit InteriorResults(const Table<T>& table) {
    constexpr std::int64_t kMaxTaps = 8;
    const auto taps_of = [&](std::int64_t o) { return table.end(o) - table.begin(o); };
    begin = end = table.size() / 2;
    taps = taps_of(begin);
    if (taps < 1 || taps > kMaxTaps) return;
    while (begin > 0 && taps_of(begin - 1) == taps) --begin;
    while (end < table.size() && taps_of(end) == taps) ++end;
    index.reserve(static_cast<std::size_t>(taps * (end - begin)));
    weight.reserve(static_cast<std::size_t>(taps * (end - begin)));
    InterruptMeter meter;
    for (std::int64_t k = 0; k < taps; ++k) {
      for (auto o = begin; o < end; ++o) {
        meter.add(1);
        const auto from = static_cast<std::size_t>(table.begin(o) + k);
        index.push_back(table.index[from]);
        weight.push_back(table.weight[from]);
      }
    }
  }
};

template <typename T>
void resize_ends(const Table<T>& table, std::int64_t begin, std::int64_t end, const T* x, T* y) {
  for (auto o = begin; o < end; ++o) {
    T sum = 0;
    for (auto k = table.begin(o); k < table.end(o); ++k) {
      sum += table.weight[static_cast<std::size_t>(k)] * x[table.index[static_cast<std::size_t>(k)]];
    }
    y[o] = sum;
  }
}

template <typename T>
void resize_row(const Table<T>& table, const InteriorResults<T>& middle, const T* x, T* y) {
  resize_ends(table, 0, middle.begin, x, y);
  if (middle.end > middle.begin) {
    BURN_BEST(resize_row_of<T>)
    (middle.taps, middle.index.data(), middle.weight.data(), x, y + middle.begin, middle.end - middle.begin);
  }
  resize_ends(table, middle.end, table.size(), x, y);
}

// Computes row o from a plane whose rows, stored from `first_row` on, have been resized to `width`.
template <typename T>
void resize_column(const Table<T>& table, std::int64_t o, const T* plane, std::int64_t first_row, T* y,
                   std::int64_t width) {
  if (table.begin(o) == table.end(o)) std::fill_n(y, width, T{0});
  for (auto k = table.begin(o); k < table.end(o); k += 4) {
    const auto count = std::min<std::int64_t>(table.end(o) - k, 4);
    std::array<const T*, 4> rows{};
    for (std::int64_t r = 0; r < count; ++r) {
      rows[static_cast<std::size_t>(r)] = plane + (table.index[static_cast<std::size_t>(k + r)] - first_row) * width;
    }
    BURN_BEST(add_rows_of<T>)
    (count, k != table.begin(o), rows.data(), table.weight.data() + k, y, width);
  }
}

template <typename T>
struct Resize {
  Table<T> rows, columns;     // of the height, of the width
  InteriorResults<T> middle;  // of the columns
  std::int64_t height, width;

  std::int64_t block = 1;    // result rows that are made together
  std::int64_t scratch = 0;  // elements that a block wants

  Resize(Table<T> by_row, Table<T> by_column, std::int64_t input_height, std::int64_t input_width)
      : rows(std::move(by_row)),
        columns(std::move(by_column)),
        middle(columns),
        height(input_height),
        width(input_width) {
    // All rows of a plane that fits into the cache; of others, as many as have inputs that fit.
    constexpr std::int64_t kCached = std::int64_t{64} * 1024;
    block = std::clamp<std::int64_t>(kCached * rows.size() / (height * columns.size()), 1, rows.size());
    for (std::int64_t o = 0; o < rows.size(); o += block) {
      const auto [begin, end] = rows.reach(o, std::min(o + block, rows.size()));
      scratch = std::max(scratch, (end - begin) * columns.size());
    }
  }
  std::int64_t blocks() const { return (rows.size() + block - 1) / block; }

  void resize_block(const T* x, T* y, std::int64_t which, T* buffer) const {
    const auto first = which * block, last = std::min(first + block, rows.size());
    const auto [begin, end] = rows.reach(first, last);
    for (auto r = begin; r < end; ++r)
      resize_row(columns, middle, x + r * width, buffer + (r - begin) * columns.size());
    for (auto o = first; o < last; ++o) {
      resize_column(rows, o, buffer, begin, y + o * columns.size(), columns.size());
    }
  }
};

template <typename T>
Status resize(Run& run, const Resize<T>& how, const Array& x, Array& y) {
  const auto planes = y.shape()[0] * y.shape()[1], blocks = planes * how.blocks();
  const auto work = planes * (how.height * how.width + how.rows.size() * how.columns.size());
  const auto parts = std::clamp<std::int64_t>(std::min(blocks, 4 * work / kGrain), 1, thread_count());
  BURN_TRY(const auto memory, run.pool.allocate(static_cast<std::size_t>(parts * how.scratch) * sizeof(T)));
  parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto part = begin; part < end; ++part) {
      T* buffer = reinterpret_cast<T*>(memory->data()) + part * how.scratch;
      for (auto at = blocks * part / parts; at < blocks * (part + 1) / parts; ++at) {
        throw_if_interrupted();
        const auto plane = at / how.blocks();
        how.resize_block(x.as<T>() + plane * how.height * how.width,
                         y.as<T>() + plane * how.rows.size() * how.columns.size(), at % how.blocks(), buffer);
      }
    }
  });
  return {};
}

// `backward`: from the forward op's output to its input.
template <typename Op>
Kernel resize_kernel(const Op& op, const Signature& signature, bool backward) {
  return [op, backward, type = signature.result](Run& run, std::span<Array> operands) -> Result<Array> {
    BURN_TRY(Array x, contiguous(run, operands[0]));
    BURN_TRY(x, cast(run, x, ir::compute_dtype(type.dtype)));
    BURN_TRY(Array y, run.allocate({x.dtype(), type.shape}));
    if (y.num_elements() == 0) return cast(run, y, type.dtype);
    const auto compute = [&]<typename T>() -> Status {
      // Without a height, an image of one row.
      const auto size = [](const Array& a, int from_end) {
        return a.rank() > from_end + 2 ? a.shape()[a.rank() - 1 - from_end] : 1;
      };
      const auto line = [&](int from_end) -> ir::LineInterpolation {
        const auto from = size(x, from_end), to = size(y, from_end);
        return {op.mode, op.align_corners, backward ? to : from, backward ? from : to};
      };
      const auto by_row = line(1), by_column = line(0);
      constexpr std::int64_t kMax = 1 << 24;
      const auto longest = std::max({by_row.input, by_row.output, by_column.input, by_column.output});
      if (longest > kMax)
        return resource_exhausted(fmt::format("a line of {} elements is at most {} long", longest, kMax));
      BURN_TRY(const auto counted, run.pool.reserve_external(table_bytes<T>(by_row) + table_bytes<T>(by_column)));
      const auto table = [&](const ir::LineInterpolation& of) {
        auto forward = forward_table<T>(of);
        return backward ? transposed(forward, of.input) : std::move(forward);
      };
      auto rows = table(by_row), columns = table(by_column);
      return resize(run, Resize<T>(std::move(rows), std::move(columns), size(x, 1), size(x, 0)), x, y);
    };
    BURN_RETURN_IF_ERROR(x.dtype() == ir::DType::f64 ? compute.template operator()<double>()
                                                     : compute.template operator()<float>());
    return cast(run, y, type.dtype);
  };
}

}  // namespace

namespace kernels {

Result<Kernel> prepare(const ir::Interpolate& op, const Signature& signature) {
  return resize_kernel(op, signature, false);
}

Result<Kernel> prepare(const ir::InterpolateGrad& op, const Signature& signature) {
  return resize_kernel(op, signature, true);
}

}  // namespace kernels
}  // namespace burn::backends::cpu
