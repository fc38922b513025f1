// Values of the kernel language with the operators of C++. They write the instruction into the kernel that the values
// are of (writer.h). Both operands have one type; a C++ number takes the type of the value beside it.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "compile/codegen/kernel/kernel.h"

namespace burn::compile::kernel {

class Writer;

// What an instruction gives. A handle: copies name the same value.
struct Value {
  Writer* writer = nullptr;
  std::int32_t id = -1;
  ir::DType type = ir::DType::bool_;

  // A number of this value's type.
  Value like(double number) const;
  Value like(std::int64_t number) const;
  template <typename T>
    requires std::is_arithmetic_v<T>
  Value number(T n) const {
    if constexpr (std::is_floating_point_v<T>)
      return like(static_cast<double>(n));
    else
      return like(static_cast<std::int64_t>(n));
  }
};

Value unary(Code code, Value a);
Value binary(Code code, Value a, Value b);  // gives the type of a
Value compare(Code code, Value a, Value b);

template <typename T>
concept Number = std::is_arithmetic_v<T>;

#define BURN_KERNEL_OPERATOR(symbol, expression)                        \
  inline Value operator symbol(Value a, Value b) { return expression; } \
  template <Number T>                                                   \
  Value operator symbol(Value a, T number) {                            \
    return operator symbol(a, a.number(number));                        \
  }                                                                     \
  template <Number T>                                                   \
  Value operator symbol(T number, Value b) {                            \
    return operator symbol(b.number(number), b);                        \
  }
BURN_KERNEL_OPERATOR(+, binary(Code::add, a, b))
BURN_KERNEL_OPERATOR(-, binary(Code::sub, a, b))
BURN_KERNEL_OPERATOR(*, binary(Code::mul, a, b))
BURN_KERNEL_OPERATOR(/, binary(Code::div, a, b))
BURN_KERNEL_OPERATOR(%, binary(Code::rem, a, b))
BURN_KERNEL_OPERATOR(&, binary(Code::bit_and, a, b))
BURN_KERNEL_OPERATOR(|, binary(Code::bit_or, a, b))
BURN_KERNEL_OPERATOR(^, binary(Code::bit_xor, a, b))
BURN_KERNEL_OPERATOR(<<, binary(Code::shift_left, a, b))
BURN_KERNEL_OPERATOR(>>, binary(Code::shift_right, a, b))
BURN_KERNEL_OPERATOR(<, compare(Code::less, a, b))
BURN_KERNEL_OPERATOR(<=, compare(Code::less_equal, a, b))
BURN_KERNEL_OPERATOR(>, compare(Code::less, b, a))
BURN_KERNEL_OPERATOR(>=, compare(Code::less_equal, b, a))
BURN_KERNEL_OPERATOR(==, compare(Code::equal, a, b))
BURN_KERNEL_OPERATOR(!=, compare(Code::not_equal, a, b))
#undef BURN_KERNEL_OPERATOR

// Of bool, without the short circuit that the operators of C++ have: both sides are computed.
inline Value operator&&(Value a, Value b) { return binary(Code::bit_and, a, b); }
inline Value operator||(Value a, Value b) { return binary(Code::bit_or, a, b); }
inline Value operator!(Value a) { return unary(Code::bit_not, a); }
inline Value operator~(Value a) { return unary(Code::bit_not, a); }
inline Value operator-(Value a) { return unary(Code::neg, a); }

// Of one or two operands. call_own(): nothing where the kernel is for a device without functions of its own.
Value call(Function function, Value a, Value b = {});
std::optional<Value> call_own(Function function, Value a, Value b = {});

Value select(Value condition, Value a, Value b);
template <Number T>
Value select(Value condition, Value a, T b) {
  return select(condition, a, a.number(b));
}
template <Number T>
Value select(Value condition, T a, Value b) {
  return select(condition, b.number(a), b);
}
Value fused_multiply_add(Value a, Value b, Value c);

// Between numbers, without the rules of ir::Cast (convert.h has those).
Value to(ir::DType type, Value a);
Value bits_as(ir::DType type, Value a);

}  // namespace burn::compile::kernel
