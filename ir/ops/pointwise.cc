#include "ir/ops/pointwise.h"

#include <array>
#include <unordered_map>

namespace burn::ir {
namespace {

constexpr std::array kRows = {
#define P1(name, forms, kind, value, grad, doc) \
  PointwiseRow{#name, #name, PointwiseClass::kind, 1, std::string_view(#grad) != "ZERO", #value, doc},
#define P2(name, method, kind, value, grad_a, grad_b, doc) \
  PointwiseRow{#name, #method, PointwiseClass::kind, 2, std::string_view(#grad_a) != "ZERO", #value, doc},
#define P3(name, method, kind, value, grad_a, grad_b, grad_c, doc) \
  PointwiseRow{#name, #method, PointwiseClass::kind, 3, std::string_view(#grad_b) != "ZERO", #value, doc},
#include "ir/ops/pointwise.def"
#undef P1
#undef P2
#undef P3
};

}  // namespace

const PointwiseRow& row(PointwiseFn fn) { return kRows[static_cast<std::size_t>(fn)]; }
int pointwise_count() { return static_cast<int>(kRows.size()); }
std::string_view name(PointwiseFn fn) { return row(fn).name; }

std::optional<PointwiseFn> parse_pointwise(std::string_view text) {
  // A map, as most nodes of a decoded program look up their function; never destroyed, as decoding may go on while the
  // process exits.
  static const auto& by_name = *[] {
    auto* functions = new std::unordered_map<std::string_view, PointwiseFn>;
    for (std::size_t i = 0; i < kRows.size(); ++i) functions->emplace(kRows[i].name, static_cast<PointwiseFn>(i));
    return functions;
  }();
  const auto found = by_name.find(text);
  return found == by_name.end() ? std::nullopt : std::optional{found->second};
}

}  // namespace burn::ir
