#include "compile/codegen/kernel/value.h"

#include "base/error.h"
#include "compile/codegen/kernel/writer.h"

namespace burn::compile::kernel {
namespace {

Writer& writer_of(Value value) {
  BURN_CHECK(value.writer != nullptr, "a value of no kernel");
  return *value.writer;
}

}  // namespace

Value Value::like(double number) const { return writer_of(*this).constant(type, number); }
Value Value::like(std::int64_t number) const { return writer_of(*this).constant(type, number); }

Value unary(Code code, Value a) { return writer_of(a).write({code, a.type, {a.id, -1, -1}, 0}); }

Value binary(Code code, Value a, Value b) {
  BURN_CHECK(a.type == b.type && a.writer == b.writer, "operands of different types or kernels");
  return writer_of(a).write({code, a.type, {a.id, b.id, -1}, 0});
}

// Of bool, false is less than true.
Value compare(Code code, Value a, Value b) {
  BURN_CHECK(a.type == b.type && a.writer == b.writer, "operands of different types or kernels");
  if (ir::is_bool(a.type) && code == Code::less) return !a && b;
  if (ir::is_bool(a.type) && code == Code::less_equal) return !a || b;
  return writer_of(a).write({code, ir::DType::bool_, {a.id, b.id, -1}, 0});
}

Value select(Value condition, Value a, Value b) {
  BURN_CHECK(condition.type == ir::DType::bool_ && a.type == b.type, "select() takes a bool and two of one type");
  return writer_of(a).write({Code::select, a.type, {condition.id, a.id, b.id}, 0});
}

Value fused_multiply_add(Value a, Value b, Value c) {
  BURN_CHECK(a.type == b.type && a.type == c.type && ir::is_floating(a.type), "fused_multiply_add() takes floats");
  return writer_of(a).write({Code::fused_multiply_add, a.type, {a.id, b.id, c.id}, 0});
}

Value call(Function function, Value a, Value b) {
  BURN_CHECK((operand_count(function) == 2) == (b.writer != nullptr) && operand_type(function, a.type) == a.type,
             "a function of other operands");
  return writer_of(a).write(
      {Code::call, result_type(function, a.type), {a.id, b.id, -1}, static_cast<std::uint64_t>(function)});
}

std::optional<Value> call_own(Function function, Value a, Value b) {
  return writer_of(a).has_functions() ? std::optional(call(function, a, b)) : std::nullopt;
}

Value to(ir::DType type, Value a) {
  if (type == a.type) return a;
  BURN_CHECK(!ir::is_bool(type) && !ir::is_bool(a.type), "bool is compared or selected, not converted");
  return writer_of(a).write({Code::convert, type, {a.id, -1, -1}, 0});
}

Value bits_as(ir::DType type, Value a) {
  if (type == a.type) return a;
  BURN_CHECK(bits_of(type) == bits_of(a.type), "types of different sizes have no bits in common");
  return writer_of(a).write({Code::bits, type, {a.id, -1, -1}, 0});
}

}  // namespace burn::compile::kernel
