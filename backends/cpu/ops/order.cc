// Ops that compare elements along an axis: the index of an extreme one, and the order of all.
#include <algorithm>
#include <limits>
#include <vector>

#include "backends/cpu/ops/cast.h"
#include "backends/cpu/ops/copy.h"
#include "backends/cpu/ops/lines.h"
#include "backends/cpu/ops/numbers.h"
#include "ir/dispatch.h"

namespace burn::backends::cpu {
namespace {

// Row-major, in a type that can be compared.
Result<Array> comparable(Run& run, const Array& x) {
  BURN_TRY(const Array row_major, contiguous(run, x));
  return cast(run, row_major, compute_dtype(x.dtype()));
}

template <typename Body>
void dispatch_comparable(ir::DType dtype, const Body& body) {
  ir::dispatch(dtype, [&]<typename T>() {
    if constexpr (std::is_same_v<T, bool>)
      body.template operator()<std::uint8_t>();
    else if constexpr (std::is_arithmetic_v<T>)
      body.template operator()<T>();
  });
}

template <ir::ArgFn kFn, typename T>
bool beats(T challenger, T best) {
  if (is_nan(best)) return false;  // the first NaN wins
  if (is_nan(challenger)) return true;
  return kFn == ir::ArgFn::max ? challenger > best : challenger < best;
}

template <ir::ArgFn kFn, typename T>
void arg_extremes(const Lines& lines, const T* x, std::int64_t* index) {
  lines.for_each([&](std::int64_t k) {
    const T* line = x + lines.start(k);
    std::int64_t best = 0;
    T value = line[0];
    for (std::int64_t i = 1; i < lines.size; ++i) {
      const T candidate = line[i * lines.inner];
      if (!beats<kFn>(candidate, value)) continue;
      best = i;
      value = candidate;
    }
    index[k] = best;
  });
}

template <typename T>
bool is_less(T a, T b) {
  if (is_nan(b)) return !is_nan(a);  // NaN is the largest
  return a < b;
}

template <typename T>
struct Entry {
  T key;
  std::int64_t index;
};

// Equal keys stay in the order of their indices.
template <typename T>
void sort_entries(std::span<Entry<T>> entries, bool descending) {
  std::ranges::sort(entries, [descending](const Entry<T>& a, const Entry<T>& b) {
    const auto& [first, second] = descending ? std::pair(b.key, a.key) : std::pair(a.key, b.key);
    if (is_less(first, second)) return true;
    if (is_less(second, first)) return false;
    return a.index < b.index;
  });
}

template <typename T>
void sort(const Lines& lines, const T* x, bool descending, Entry<T>* scratch, T* values, std::int64_t* index) {
  lines.for_each([&](std::int64_t k) {
    const auto start = lines.start(k);
    const std::span entries(scratch + k * lines.size, static_cast<std::size_t>(lines.size));
    for (std::int64_t i = 0; i < lines.size; ++i)
      entries[static_cast<std::size_t>(i)] = {x[start + i * lines.inner], i};
    sort_entries(entries, descending);
    for (std::int64_t i = 0; i < lines.size; ++i) {
      const auto& entry = entries[static_cast<std::size_t>(i)];
      values[start + i * lines.inner] = entry.key;
      index[start + i * lines.inner] = entry.index;
    }
  });
}

}  // namespace

namespace kernels {

Result<Kernel> prepare(const ir::ArgReduce& op, const Signature& signature) {
  return Kernel([op, type = signature.result](Run& run, std::span<Array> operands) -> Result<Array> {
    BURN_TRY(const Array x, comparable(run, operands[0]));
    BURN_TRY(Array y, run.allocate(type));
    const Lines lines(x.shape(), op.axis);
    dispatch_comparable(x.dtype(), [&]<typename T>() {
      if (op.fn == ir::ArgFn::max)
        arg_extremes<ir::ArgFn::max>(lines, x.as<T>(), y.as<std::int64_t>());
      else
        arg_extremes<ir::ArgFn::min>(lines, x.as<T>(), y.as<std::int64_t>());
    });
    return y;
  });
}

Result<Kernel> prepare(const ir::Sort& op, const Signature& signature) {
  return Kernel([op, type = signature.result](Run& run, std::span<Array> operands, std::span<Array> results) -> Status {
    BURN_TRY(const Array x, comparable(run, operands[0]));
    BURN_TRY(Array values, run.allocate(x.type()));
    BURN_TRY(Array index, run.allocate({ir::DType::i64, type.shape}));
    BURN_TRY(const auto scratch, run.pool.allocate(static_cast<std::size_t>(x.num_elements()) * sizeof(Entry<double>)));
    const Lines lines(x.shape(), op.axis);
    dispatch_comparable(x.dtype(), [&]<typename T>() {
      sort(lines, x.as<T>(), op.descending, reinterpret_cast<Entry<T>*>(scratch->data()), values.as<T>(),
           index.as<std::int64_t>());
    });
    BURN_TRY(results[0], cast(run, values, type.dtype));
    results[1] = std::move(index);
    return {};
  });
}

}  // namespace kernels
}  // namespace burn::backends::cpu
