#include "backends/cpu/kernels/index.h"

#include <algorithm>
#include <atomic>

#include "backends/cpu/kernels/cast.h"
#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/runtime/parallel.h"
#include "ir/node_errors.h"

namespace burn::backends::cpu {
namespace {

// A view that has each repeated element once.
Array without_repeats(const Array& x) {
  ir::Dims sizes = x.shape();
  for (int i = 0; i < x.rank(); ++i) {
    if (x.strides()[i] == 0) sizes[i] = std::min<std::int64_t>(sizes[i], 1);
  }
  return x.sliced(ir::Dims::filled(x.rank(), 0), sizes, ir::Dims::filled(x.rank(), 1));
}

}  // namespace

Result<Array> checked_index(Run& run, const Array& index, std::int64_t size) {
  BURN_TRY(Array unique, contiguous(run, without_repeats(index)));
  BURN_TRY(unique, cast(run, unique, ir::DType::i64));
  const auto* values = unique.as<std::int64_t>();
  const auto is_outside = [size](std::int64_t i) {
    return static_cast<std::uint64_t>(i) >= static_cast<std::uint64_t>(size);
  };

  std::atomic<bool> bad = false;
  parallel_for(unique.num_elements(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    std::uint64_t largest = 0;  // a negative number is a large one
    for (auto i = begin; i < end; ++i) largest = std::max(largest, static_cast<std::uint64_t>(values[i]));
    if (begin < end && is_outside(static_cast<std::int64_t>(largest))) bad = true;
  });
  if (bad) {
    const auto first = *std::find_if(values, values + unique.num_elements(), is_outside);
    return ir::index_out_of_range(first, size);
  }
  return unique.expanded(index.shape());
}

}  // namespace burn::backends::cpu
