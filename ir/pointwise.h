// The element-by-element functions as an enum, and what each takes and gives. The table is pointwise.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace burn::ir {

enum class PointwiseFn : std::uint8_t {
#define P1(name, kind, value, grad, doc) name,
#define P2(name, kind, value, grad_a, grad_b, doc) name,
#define P3(name, kind, value, grad_a, grad_b, grad_c, doc) name,
#include "ir/pointwise.def"
#undef P1
#undef P2
#undef P3
};

// Which dtypes go in and which comes out.
enum class PointwiseClass : std::uint8_t {
  numeric,   // floats and integers, T -> T
  floating,  // floats, T -> T
  integral,  // integers, T -> T
  logical,   // bool -> bool
  compare,   // any T, T -> bool
  test,      // float -> bool
  choose,    // bool, T, T -> T
};

struct PointwiseRow {
  std::string_view name;
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
