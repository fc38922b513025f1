// Sort and TopK: elements are mapped to integers that sort in the same order (simd/order_loops.h), each with its index,
// so that equal elements keep their order. Lines are sorted digit by digit, short ones by comparison; a few of many are
// selected with a bound that becomes tighter meanwhile.
#include <algorithm>
#include <array>
#include <compare>

#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/kernels/lines.h"

namespace burn::backends::cpu {
namespace {

enum class KeyKind { whole, with_sign, floating };

template <typename U>
using KeysOf = void (*)(std::int64_t, const U*, std::int64_t, U, U, U*);

}  // namespace
}  // namespace burn::backends::cpu

#define BURN_ISA_FILE "backends/cpu/simd/order_loops.h"
#include "backends/cpu/simd/foreach.h"

namespace burn::backends::cpu {
namespace {

struct KeyFormat {
  KeyKind kind;
  std::uint64_t infinity = 0;  // its bits, of floats
};

KeyFormat key_format(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::f64:
      return {KeyKind::floating, 0x7ff0000000000000u};
    case ir::DType::f32:
      return {KeyKind::floating, 0x7f800000u};
    case ir::DType::f16:
      return {KeyKind::floating, 0x7c00u};
    case ir::DType::bf16:
      return {KeyKind::floating, 0x7f80u};
    case ir::DType::i64:
    case ir::DType::i32:
    case ir::DType::i16:
    case ir::DType::i8:
      return {KeyKind::with_sign};
    default:
      return {KeyKind::whole};
  }
}

// A key of up to 32 bits above an index of as many: one number.
template <typename U>
struct PackedKey {
  using Item = std::uint64_t;
  static constexpr int kDigits = sizeof(U);
  static Item make(U key, std::int64_t index) { return std::uint64_t{key} << 32 | static_cast<std::uint64_t>(index); }
  static U key(Item item) { return static_cast<U>(item >> 32); }
  static std::int64_t index(Item item) { return static_cast<std::int64_t>(item & 0xffffffffu); }
  static std::size_t digit(Item item, int d) { return item >> (32 + 8 * d) & 255; }
};

template <typename U>
struct KeyAndIndex {
  struct Item {
    std::uint64_t key, index;
    friend auto operator<=>(const Item&, const Item&) = default;
  };
  static constexpr int kDigits = sizeof(U);
  static Item make(U key, std::int64_t index) { return {key, static_cast<std::uint64_t>(index)}; }
  static U key(const Item& item) { return static_cast<U>(item.key); }
  static std::int64_t index(const Item& item) { return static_cast<std::int64_t>(item.index); }
  static std::size_t digit(const Item& item, int d) { return item.key >> (8 * d) & 255; }
};

constexpr std::int64_t kBlock = 64;  // elements whose keys are made together,
constexpr std::int64_t kGroup = 16;  // and of these, that are skipped together

// One line of elements in memory, and how they are ordered.
template <typename U>
struct Line {
  const U* data;
  std::int64_t size, stride;
  KeysOf<U> keys_of;
  U infinity, flip;

  // Calls body(first, count, keys) for parts of it.
  template <typename Body>
  void each_block(const Body& body) const {
    std::array<U, kBlock> keys;
    InterruptMeter meter;
    for (std::int64_t i = 0; i < size; i += kBlock) {
      const auto count = std::min(kBlock, size - i);
      meter.add(4 * count);
      keys_of(count, data + i * stride, stride, infinity, flip, keys.data());
      body(i, count, keys.data());
    }
  }
};

// Sorts the whole line. Returns which of the two arrays, of line.size items, has the result.
template <typename Format, typename U, typename Item = typename Format::Item>
const Item* sort_line(const Line<U>& line, Item* items, Item* other) {
  constexpr std::int64_t kFewForDigits = 200;
  std::array<std::array<std::uint64_t, 256>, Format::kDigits> counts{};
  const bool by_digits = line.size >= kFewForDigits;
  line.each_block([&](std::int64_t first, std::int64_t count, const U* keys) {
    for (std::int64_t i = 0; i < count; ++i) items[first + i] = Format::make(keys[i], first + i);
    if (!by_digits) return;
    for (std::int64_t i = 0; i < count; ++i) {
      for (int d = 0; d < Format::kDigits; ++d) ++counts[static_cast<std::size_t>(d)][keys[i] >> (8 * d) & 255];
    }
  });
  if (!by_digits) {
    std::sort(items, items + line.size);
    return items;
  }
  InterruptMeter meter;
  for (int d = 0; d < Format::kDigits; ++d) {
    auto& next = counts[static_cast<std::size_t>(d)];
    if (next[Format::digit(items[0], d)] == static_cast<std::uint64_t>(line.size)) continue;  // all have the same
    std::uint64_t before = 0;
    for (auto& count : next) count = std::exchange(before, before + count);
    constexpr std::int64_t kAtOnce = 1 << 16;
    for (std::int64_t first = 0; first < line.size; first += kAtOnce) {
      meter.add(4 * kAtOnce);
      for (auto i = first; i < std::min(first + kAtOnce, line.size); ++i)
        other[next[Format::digit(items[i], d)]++] = items[i];
    }
    std::swap(items, other);
  }
  return items;
}

std::int64_t items_of_selection(std::int64_t k) { return k + std::max<std::int64_t>(k / 2, 2 * kGroup) + kGroup; }

// Selects the first k of the line in order, k < line.size; `items` has room as above. Elements that do not come before
// the k-th best so far, which has a lower index, are skipped.
template <typename Format, typename U, typename Item = typename Format::Item>
void select_line(const Line<U>& line, std::int64_t k, Item* items) {
  const auto most = items_of_selection(k);
  std::int64_t held = 0;
  bool has_bound = false;
  U bound = 0;
  const auto least = BURN_BEST(least_of<U>);
  const auto tighten = [&] {
    std::nth_element(items, items + k - 1, items + held);
    held = k;
    bound = Format::key(items[k - 1]);
    has_bound = true;
  };
  line.each_block([&](std::int64_t first, std::int64_t count, const U* keys) {
    for (std::int64_t g = 0; g < count; g += kGroup) {
      const auto end = std::min(g + kGroup, count);
      if (has_bound && least(end - g, keys + g) >= bound) continue;
      for (auto i = g; i < end; ++i) {
        items[held] = Format::make(keys[i], first + i);
        held += !has_bound || keys[i] < bound ? 1 : 0;
      }
      if (held + kGroup > most) tighten();
    }
  });
  if (held > k) tighten();
  std::sort(items, items + k);
}

struct Job {
  ir::DType dtype;
  bool descending;
  std::int64_t axis;
};

// The first results.size of each line of x, and their indices.
template <typename Format, typename U>
Status order_lines(Run& run, const Job& job, const Array& x, Array& values, Array& index) {
  using Item = typename Format::Item;
  const Lines lines(x.shape(), job.axis), results(values.shape(), job.axis);
  const auto k = results.size;
  const bool selects = k < lines.size / 4;
  const auto room_of_one = selects ? items_of_selection(k) : 2 * lines.size;
  const auto parts = std::min<std::int64_t>(lines.count(), std::int64_t{4} * thread_count());
  BURN_TRY(const auto room, run.pool.allocate(static_cast<std::size_t>(parts * room_of_one) * sizeof(Item)));
  const auto format = key_format(job.dtype);
  const auto keys_of = BURN_BEST(find_keys_of<U>)(format.kind);
  const auto lines_per_part = (lines.count() + parts - 1) / parts;
  parallel_for(parts, kGrain / (4 * lines.size * lines_per_part) + 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto part = begin; part < end; ++part) {
      auto* items = reinterpret_cast<Item*>(room->data()) + part * room_of_one;
      const auto last = std::min(lines.count(), (part + 1) * lines_per_part);
      for (auto l = part * lines_per_part; l < last; ++l) {
        const Line<U> line{x.as<U>() + lines.start(l),
                           lines.size,
                           lines.inner,
                           keys_of,
                           static_cast<U>(format.infinity),
                           static_cast<U>(job.descending ? ~U{0} : U{0})};
        const Item* sorted = items;
        if (selects)
          select_line<Format>(line, k, items);
        else
          sorted = sort_line<Format>(line, items, items + lines.size);
        const auto to = results.start(l);
        for (std::int64_t i = 0; i < k; ++i) {
          const auto at = Format::index(sorted[i]);
          values.as<U>()[to + i * results.inner] = line.data[at * lines.inner];
          index.as<std::int64_t>()[to + i * results.inner] = at;
        }
      }
    }
  });
  return {};
}

template <typename U>
Status order_lines_of(Run& run, const Job& job, const Array& x, Array& values, Array& index) {
  constexpr std::int64_t kMaxIndices = std::int64_t{1} << 32;
  if constexpr (sizeof(U) <= 4) {
    if (x.shape()[static_cast<int>(job.axis)] <= kMaxIndices)
      return order_lines<PackedKey<U>, U>(run, job, x, values, index);
  }
  return order_lines<KeyAndIndex<U>, U>(run, job, x, values, index);
}

// `type`: of the values.
Kernel sort_kernel(std::int64_t axis, bool descending, const ir::TensorType& type) {
  return [job = Job{type.dtype, descending, axis}, type](Run& run, std::span<Array> operands,
                                                         std::span<Array> results) -> Status {
    BURN_TRY(const Array x, contiguous(run, operands[0]));
    BURN_TRY(results[0], run.allocate(type));
    BURN_TRY(results[1], run.allocate({ir::DType::i64, type.shape}));
    if (results[0].num_elements() == 0) return {};
    switch (ir::size_of(job.dtype)) {
      case 1:
        return order_lines_of<std::uint8_t>(run, job, x, results[0], results[1]);
      case 2:
        return order_lines_of<std::uint16_t>(run, job, x, results[0], results[1]);
      case 4:
        return order_lines_of<std::uint32_t>(run, job, x, results[0], results[1]);
      default:
        return order_lines_of<std::uint64_t>(run, job, x, results[0], results[1]);
    }
  };
}

}  // namespace

namespace kernels {

Result<Kernel> prepare(const ir::Sort& op, const Signature& signature) {
  return sort_kernel(op.axis, op.descending, signature.result);
}

Result<Kernel> prepare(const ir::TopK& op, const Signature& signature) {
  return sort_kernel(op.axis, op.largest, signature.result);
}

}  // namespace kernels
}  // namespace burn::backends::cpu
