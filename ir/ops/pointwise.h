// The element-wise functions as an enum, with their operand and result dtypes. The table is pointwise.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace burn::ir {

enum class PointwiseFn : std::uint8_t {
#define P1(name, ...) name,
#define P2(name, ...) name,
#define P3(name, ...) name,
#include "ir/ops/pointwise.def"
#undef P1
#undef P2
#undef P3
};

// Dtypes of the operands and of the result.
enum class PointwiseClass : std::uint8_t {
  numeric,   // floats and integers, T -> T
  floating,  // floats, T -> T
  integral,  // integers, T -> T
  logical,   // bool -> bool
  compare,   // any T, T -> bool
  test,      // float -> bool
  choose,    // bool, T, T -> T
};

// Bitmask of the forms in which a function has a vector loop over f32. alone: f(x); after: f(a op b), where op is + - *
// or /; chain: ((f(x) + c) * d) / e, where steps may be missing. For functions whose plain loop the compiler does not
// vectorise.
namespace forms {
inline constexpr int none = 0, alone = 1, after = 2, chain = 4;
}

struct PointwiseRow {
  std::string_view name;
  std::string_view method;  // of Tensor, and in the conformance tool
  PointwiseClass kind;
  int arity;
  bool differentiable;
  std::string_view value;  // the formula, over x or a, b, c
  std::string_view doc;
};

const PointwiseRow& row(PointwiseFn fn);
int pointwise_count();
std::string_view name(PointwiseFn fn);
std::optional<PointwiseFn> parse_pointwise(std::string_view text);

}  // namespace burn::ir
