#include <algorithm>
#include <cctype>
#include <sstream>
#include <string>

#include "tools/conformance/typed.h"

namespace burn::conformance {
namespace {

void add_rows(OpTable& t){
#define P1(name, ...) BURN_CALL(#name, x.name())
#define P2(name, method, ...)                   \
  BURN_CALL(#method, x.method(like(x, c.x(1)))) \
  BURN_CALL(#method "_scalar", x.method(c.scalar("scalar")))
#define P3(...)
#include "ir/ops/pointwise.def"
#undef P1
#undef P2
#undef P3
}

// The rank of the result of an einsum: one dim for each letter after the arrow, or, without an arrow, for each letter
// that occurs once; plus the largest number of dims that "..." stands for in any operand.
std::int64_t einsum_rank(const Call& c, const std::string& equation) {
  const auto is_letter = [](char ch) { return std::isalpha(static_cast<unsigned char>(ch)) != 0; };
  const auto arrow = equation.find("->");
  const std::string left = equation.substr(0, arrow), right = arrow == std::string::npos ? "" : equation.substr(arrow);
  std::int64_t rank = std::count_if(right.begin(), right.end(), is_letter);
  if (arrow == std::string::npos) {
    rank = std::count_if(left.begin(), left.end(),
                         [&](char ch) { return is_letter(ch) && std::count(left.begin(), left.end(), ch) == 1; });
  }
  std::int64_t dots = 0;
  std::istringstream operands(left);
  std::string labels;
  for (std::size_t i = 0; i < c.count() && std::getline(operands, labels, ','); ++i) {
    if (labels.find("...") == std::string::npos) continue;
    dots = std::max<std::int64_t>(dots, c.x(i).rank() - std::count_if(labels.begin(), labels.end(), is_letter));
  }
  const bool has_dots = arrow == std::string::npos || right.find("...") != std::string::npos;
  return std::max<std::int64_t>(1, rank + (has_dots ? dots : 0));
}

// Casts to the dtype of the case, across kinds.
std::vector<Value> cast(const Call& c) {
  const auto to = c.dtype();
  return typed(c.x(), [&]<int D, Kind K>(const Tensor<D, K>& x) {
    if (K::holds(to)) return values(x.cast(to));
    if (Float::holds(to)) return values(x.to_float(to));
    if (Int::holds(to)) return values(x.to_int(to));
    return values(x.to_bool());
  });
}

}  // namespace

void add_elementwise(OpTable& t) {
  add_rows(t);
  BURN_CALL("powf", x.powf(like(x, c.x(1))))
  BURN_CALL("powf_scalar", x.powf(c.scalar("scalar")))
  BURN_CALL("scalar_sub", c.scalar("scalar") - x)
  BURN_CALL("scalar_div", c.scalar("scalar") / x)
  BURN_CALL("clamp", x.clamp(c.scalar("min"), c.scalar("max")))
  BURN_CALL("clamp_min", x.clamp_min(c.scalar("min")))
  BURN_CALL("clamp_max", x.clamp_max(c.scalar("max")))
  BURN_CALL("square", x.square())
  BURN_CALL("deg2rad", x.deg2rad())
  BURN_CALL("rad2deg", x.rad2deg())
  BURN_CALL("cross", x.cross(like(x, c.x(1)), c.dim("dim")))
  BURN_CALL("is_finite", x.is_finite())
  BURN_CALL("contains_nan", x.contains_nan())
  BURN_CALL("is_close", x.is_close(like(x, c.x(1)), c.number("rtol"), c.number("atol")))
  BURN_CALL("all_close",
            Tensor<1, Bool>::full({1}, x.all_close(like(x, c.x(1)), c.number("rtol"), c.number("atol")), x.device()))
  BURN_CALL("int", x.to_int())
  BURN_CALL("float", x.to_float())
  BURN_CALL("bool", x.to_bool())
  t["cast"] = cast;

  t["einsum"] = [](const Call& c) -> std::vector<Value> {
    const auto equation = c.text("equation");
    return ranked(einsum_rank(c, equation), [&]<int E>() -> std::vector<Value> {
      std::vector<Value> operands;
      for (std::size_t i = 0; i < c.count(); ++i) operands.push_back(c.x(i));
      if (ir::is_integer(c.x(0).dtype())) return values(einsum<E, Int>(std::string_view{equation}, operands));
      return values(einsum<E>(std::string_view{equation}, operands));
    });
  };
}

}  // namespace burn::conformance
