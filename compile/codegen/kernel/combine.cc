#include "compile/codegen/kernel/combine.h"

#include <limits>

#include "compile/codegen/kernel/convert.h"

namespace burn::compile::kernel {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Value least(Writer& writer, ir::DType type) {
  if (ir::is_floating(type)) return writer.constant(type, -kInfinity);
  return writer.constant(type, is_signed(type) ? std::int64_t{-1} << (bits_of(type) - 1) : std::int64_t{0});
}
Value greatest(Writer& writer, ir::DType type) {
  if (ir::is_floating(type)) return writer.constant(type, kInfinity);
  const auto lowest = std::uint64_t{1} << (bits_of(type) - 1);
  return writer.constant(type, static_cast<std::int64_t>(is_signed(type) ? lowest - 1 : lowest | (lowest - 1)));
}

}  // namespace

Value identity(Writer& writer, ir::ReduceFn fn, ir::DType type) {
  switch (fn) {
    case ir::ReduceFn::sum:
      return writer.constant(type, std::int64_t{0});
    case ir::ReduceFn::prod:
      return writer.constant(type, std::int64_t{1});
    case ir::ReduceFn::max:
      return least(writer, type);
    default:
      return greatest(writer, type);
  }
}

Value combine(ir::ReduceFn fn, Value a, Value b) {
  const bool is_float = ir::is_floating(a.type);
  switch (fn) {
    case ir::ReduceFn::sum:
      return a + b;
    case ir::ReduceFn::prod:
      return a * b;
    case ir::ReduceFn::max:
      return select(is_float ? a >= b || is_nan(a) : a >= b, a, b);
    default:
      return select(is_float ? a <= b || is_nan(a) : a <= b, a, b);
  }
}

}  // namespace burn::compile::kernel
