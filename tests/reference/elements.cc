// Ops that treat each element by itself, and those that make elements from nothing.
#include <cmath>

#include "ir/dispatch.h"
#include "ir/semantics/philox.h"
#include "ir/semantics/prelude.h"
#include "tests/reference/interpreter.h"

namespace burn::ir::prelude {
namespace {

// The formulas, over whatever type holds the elements.
#define P1(name, forms, kind, expression, ...) \
  template <typename T>                        \
  auto value_of_##name(T x) {                  \
    return expression;                         \
  }
#define P2(name, method, kind, expression, ...) \
  template <typename T>                         \
  auto value_of_##name(T a, T b) {              \
    return expression;                          \
  }
#define P3(name, method, kind, expression, ...) \
  template <typename T>                         \
  auto value_of_##name(bool a, T b, T c) {      \
    return expression;                          \
  }
#include "ir/ops/pointwise.def"
#undef P1
#undef P2
#undef P3

}  // namespace
}  // namespace burn::ir::prelude

namespace burn::reference::rules {
namespace {

template <typename T>
constexpr bool fits(ir::PointwiseClass kind) {
  constexpr bool is_bool = std::is_same_v<T, bool>, is_float = std::is_same_v<T, double>;
  switch (kind) {
    case ir::PointwiseClass::numeric:
      return !is_bool;
    case ir::PointwiseClass::floating:
    case ir::PointwiseClass::test:
      return is_float;
    case ir::PointwiseClass::integral:
      return !is_bool && !is_float;
    case ir::PointwiseClass::logical:
      return is_bool;
    case ir::PointwiseClass::compare:
    case ir::PointwiseClass::choose:
      return true;
  }
  return false;
}

// Stores the result of a formula: a bool, or a number that std's functions may have promoted.
template <typename T, typename Value>
void store(Tensor& y, std::size_t i, Value value) {
  if constexpr (std::is_same_v<Value, bool>)
    y.set(i, value);
  else
    y.set(i, static_cast<T>(value));
}

template <typename T>
void apply(ir::PointwiseFn fn, Operands in, Tensor& y) {
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto operand = [&]<typename U>(std::size_t k) {
      return in[k]->get<U>(in[k]->type.shape.rank() == 0 ? 0 : i);
    };
    switch (fn) {
#define P1(name, forms, kind, ...)                                                        \
  case ir::PointwiseFn::name:                                                             \
    if constexpr (fits<T>(ir::PointwiseClass::kind)) {                                    \
      store<T>(y, i, ir::prelude::value_of_##name<T>(operand.template operator()<T>(0))); \
    }                                                                                     \
    break;
#define P2(name, method, kind, ...)                                                                                    \
  case ir::PointwiseFn::name:                                                                                          \
    if constexpr (fits<T>(ir::PointwiseClass::kind)) {                                                                 \
      store<T>(y, i,                                                                                                   \
               ir::prelude::value_of_##name<T>(operand.template operator()<T>(0), operand.template operator()<T>(1))); \
    }                                                                                                                  \
    break;
#define P3(name, method, kind, ...)                                                                                   \
  case ir::PointwiseFn::name:                                                                                         \
    store<T>(y, i,                                                                                                    \
             ir::prelude::value_of_##name<T>(operand.template operator()<bool>(0), operand.template operator()<T>(1), \
                                             operand.template operator()<T>(2)));                                     \
    break;
#include "ir/ops/pointwise.def"
#undef P1
#undef P2
#undef P3
    }
  }
}

// Rounds toward zero and saturates; NaN becomes 0.
template <typename To>
To to_integer(double x, ir::DType dtype) {
  if (std::isnan(x)) return 0;
  const double bits = 8.0 * static_cast<double>(ir::size_of(dtype));
  const bool is_signed = std::is_signed_v<To>;
  const double beyond = std::exp2(is_signed ? bits - 1 : bits), lowest = is_signed ? -beyond : 0;
  const auto largest = static_cast<To>(~std::uint64_t{0} >> (64 - static_cast<int>(bits) + (is_signed ? 1 : 0)));
  if (x >= beyond) return largest;
  if (x <= lowest) return is_signed ? static_cast<To>(-static_cast<std::int64_t>(largest) - 1) : 0;
  return static_cast<To>(x);
}

}  // namespace

Tensor evaluate(const ir::Constant& op, const ir::TensorType& type, Operands, const Bindings&) {
  Tensor y(type);
  y.set_bits(0, static_cast<std::uint64_t>(op.bits()));
  return y;
}

Tensor evaluate(const ir::Scalar& op, const ir::TensorType& type, Operands, const Bindings& bindings) {
  Tensor y(type);
  y.set_bits(0, bindings.scalars.at(static_cast<std::size_t>(op.slot)));
  return y;
}

// Nothing fails here: what does ends the evaluation.
Tensor evaluate(const ir::Commit&, const ir::TensorType& type, Operands, const Bindings&) {
  Tensor y(type);
  y.set_bits(0, 1);
  return y;
}

Tensor evaluate(const ir::Iota&, const ir::TensorType& type, Operands, const Bindings&) {
  Tensor y(type);
  visit_kind(type.dtype, [&]<typename T>() {
    for (std::size_t i = 0; i < y.size(); ++i) y.set(i, static_cast<T>(i));
  });
  return y;
}

Tensor evaluate(const ir::Random& op, const ir::TensorType& type, Operands, const Bindings& bindings) {
  Tensor y(type);
  std::size_t i = 0;
  for_each_index(op.shape, [&](ir::Dims at) {
    for (int d = 0; d < op.starts.rank(); ++d) at[d] += op.starts[d];
    const auto place = position(op.whole_shape(), at);
    const auto block = bindings.random_offset + static_cast<std::uint64_t>(op.offset) + place / 4;
    const auto draw = [&]<typename T>() { return ir::random_block<T>(op.fn, bindings.seed, block)[place % 4]; };
    if (op.dtype == ir::DType::u64)
      y.set(i, draw.template operator()<std::uint64_t>());
    else if (op.dtype == ir::DType::f64)
      y.set(i, draw.template operator()<double>());
    else
      y.set(i, static_cast<double>(draw.template operator()<float>()));
    ++i;
  });
  return y;
}

Tensor evaluate(const ir::Pointwise& op, const ir::TensorType& type, Operands in, const Bindings&) {
  Tensor y(type);
  visit_kind(in.back()->type.dtype, [&]<typename T>() { apply<T>(op.fn, in, y); });
  return y;
}

Tensor evaluate(const ir::Cast&, const ir::TensorType& type, Operands in, const Bindings&) {
  Tensor y(type);
  visit_kind(in[0]->type.dtype, [&]<typename From>() {
    visit_kind(type.dtype, [&]<typename To>() {
      for (std::size_t i = 0; i < y.size(); ++i) {
        const From x = in[0]->get<From>(i);
        if constexpr (std::is_same_v<To, bool>)
          y.set(i, x != 0);
        else if constexpr (std::is_same_v<From, double> && !std::is_same_v<To, double>)
          y.set(i, to_integer<To>(x, type.dtype));
        else if constexpr (std::is_same_v<To, double>) {
          // Converts to 16-bit floats via f32, and from 64-bit integers directly to f32.
          y.set(i, type.dtype == ir::DType::f64 ? static_cast<double>(x) : static_cast<double>(static_cast<float>(x)));
        } else
          y.set(i, static_cast<To>(x));
      }
    });
  });
  return y;
}

}  // namespace burn::reference::rules
