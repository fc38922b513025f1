#include "backends/collective/combine.h"

#include <algorithm>
#include <type_traits>

#include "ir/dispatch.h"
#include "ir/semantics/combine.h"

namespace burn::backends {
namespace {

template <typename T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;

template <typename Op, typename T>
void combine(std::span<const std::byte* const> sources, std::byte* result, std::size_t count) {
  using Element = Stored<T>;
  using Total = ir::compute_t<Element>;
  constexpr std::size_t kBlock = 512;
  Total totals[kBlock];
  auto* const out = reinterpret_cast<Element*>(result);
  for (std::size_t first = 0; first < count; first += kBlock) {
    const auto n = std::min(kBlock, count - first);
    for (std::size_t s = 0; s < sources.size(); ++s) {
      const auto* const in = reinterpret_cast<const Element*>(sources[s]) + first;
      if (s == 0) {
        for (std::size_t i = 0; i < n; ++i) totals[i] = static_cast<Total>(in[i]);
      } else {
        for (std::size_t i = 0; i < n; ++i) totals[i] = Op::combine(totals[i], static_cast<Total>(in[i]));
      }
    }
    for (std::size_t i = 0; i < n; ++i) out[first + i] = static_cast<Element>(totals[i]);
  }
}

}  // namespace

void combine_in_order(ir::ReduceFn fn, ir::DType dtype, std::span<const std::byte* const> sources, std::byte* result,
                      std::size_t count) {
  ir::dispatch(dtype, [&]<typename T>() {
    switch (fn) {
      case ir::ReduceFn::sum:
        return combine<ir::Sum, T>(sources, result, count);
      case ir::ReduceFn::prod:
        return combine<ir::Prod, T>(sources, result, count);
      case ir::ReduceFn::max:
        return combine<ir::Max, T>(sources, result, count);
      case ir::ReduceFn::min:
        return combine<ir::Min, T>(sources, result, count);
    }
  });
}

}  // namespace burn::backends
