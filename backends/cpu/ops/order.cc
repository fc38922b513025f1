// Ops that compare elements along an axis: the index of an extreme one, and the order of all.
#include <algorithm>
#include <limits>
#include <vector>

#include "backends/cpu/ops/cast.h"
#include "backends/cpu/ops/combine.h"
#include "backends/cpu/ops/copy.h"
#include "backends/cpu/ops/lines.h"
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

// The first `count` of them in order; equal keys stay in that of their indices.
template <typename T>
void sort_entries(std::span<Entry<T>> entries, std::int64_t count, bool descending) {
  const auto comes_first = [descending](const Entry<T>& a, const Entry<T>& b) {
    const auto& [first, second] = descending ? std::pair(b.key, a.key) : std::pair(a.key, b.key);
    if (is_less(first, second)) return true;
    if (is_less(second, first)) return false;
    return a.index < b.index;
  };
  if (count == std::ssize(entries))
    std::ranges::sort(entries, comes_first);
  else
    std::ranges::partial_sort(entries, entries.begin() + count, comes_first);
}

// The first elements of each line of x become a line of the results.
template <typename T>
void sort(const Lines& lines, const Lines& results, const T* x, bool descending, Entry<T>* scratch, T* values,
          std::int64_t* index) {
  lines.for_each([&](std::int64_t k) {
    const auto start = lines.start(k), to = results.start(k);
    const std::span entries(scratch + k * lines.size, static_cast<std::size_t>(lines.size));
    for (std::int64_t i = 0; i < lines.size; ++i)
      entries[static_cast<std::size_t>(i)] = {x[start + i * lines.inner], i};
    sort_entries(entries, results.size, descending);
    for (std::int64_t i = 0; i < results.size; ++i) {
      const auto& entry = entries[static_cast<std::size_t>(i)];
      values[to + i * results.inner] = entry.key;
      index[to + i * results.inner] = entry.index;
    }
  });
}

// `type`: of the values.
Kernel sort_kernel(std::int64_t axis, bool descending, const ir::TensorType& type) {
  return [axis, descending, type](Run& run, std::span<Array> operands, std::span<Array> results) -> Status {
    BURN_TRY(const Array x, comparable(run, operands[0]));
    BURN_TRY(Array values, run.allocate({x.dtype(), type.shape}));
    BURN_TRY(Array index, run.allocate({ir::DType::i64, type.shape}));
    BURN_TRY(const auto scratch, run.pool.allocate(static_cast<std::size_t>(x.num_elements()) * sizeof(Entry<double>)));
    const Lines lines(x.shape(), axis), sorted(type.shape, axis);
    dispatch_comparable(x.dtype(), [&]<typename T>() {
      sort(lines, sorted, x.as<T>(), descending, reinterpret_cast<Entry<T>*>(scratch->data()), values.as<T>(),
           index.as<std::int64_t>());
    });
    BURN_TRY(results[0], cast(run, values, type.dtype));
    results[1] = std::move(index);
    return {};
  };
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
  return sort_kernel(op.axis, op.descending, signature.result);
}

Result<Kernel> prepare(const ir::TopK& op, const Signature& signature) {
  return sort_kernel(op.axis, op.largest, signature.result);
}

}  // namespace kernels
}  // namespace burn::backends::cpu
