#include "tools/conformance/typed.h"

namespace burn::conformance {
namespace {

DType dtype(const Call& c) { return ir::parse_dtype(c.text("dtype")).value(); }

void add_rows(OpTable& t){
#define P1(name, ...) BURN_CALL(#name, x.name())
#define P2(name, method, ...)                   \
  BURN_CALL(#method, x.method(like(x, c.x(1)))) \
  BURN_CALL(#method "_scalar", x.method(c.scalar("scalar")))
#define P3(...)
#include "ir/pointwise.def"
#undef P1
#undef P2
#undef P3
}

// Kinds change, to whatever dtype the case names.
std::vector<Value> cast(const Call& c) {
  const auto to = dtype(c);
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
    const auto arrow = equation.find("->");
    if (arrow == std::string::npos) refuse("an einsum without an arrow, whose rank the case does not say");
    const auto labels = std::count_if(equation.begin() + static_cast<std::ptrdiff_t>(arrow) + 2, equation.end(),
                                      [](char ch) { return std::isalpha(static_cast<unsigned char>(ch)); });
    return ranked(std::max<std::int64_t>(1, labels), [&]<int E>() -> std::vector<Value> {
      // The ranks of one to three operands, one after the other.
      const auto with = [&](auto&& self, std::size_t i, const auto&... done) -> std::vector<Value> {
        if (i == c.count()) {
          if constexpr (sizeof...(done) > 0) return values(einsum<E>(std::string_view{equation}, done...));
        }
        if constexpr (sizeof...(done) < 3) {
          const auto next = [&]<int... I>(std::integer_sequence<int, I...>) {
            std::vector<Value> result;
            (void)((c.x(i).rank() == I + 1 && (result = self(self, i + 1, done..., Tensor<I + 1>{c.x(i)}), true)) ||
                   ...);
            return result;
          };
          return next(std::make_integer_sequence<int, 4>{});
        }
        refuse("more than three operands");
      };
      return with(with, 0);
    });
  };
}

}  // namespace burn::conformance
