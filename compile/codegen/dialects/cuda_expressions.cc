#include "compile/codegen/dialects/cuda_expressions.h"

#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "compile/codegen/dialects/cuda_cpp.h"

namespace burn::compile {
namespace {

using ir::DType;
using kernel::Code;
using kernel::Instruction;

// Of the shortest digits that are read as this finite number; in parentheses below 0.
std::string float_literal(std::string digits, std::string_view suffix) {
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  digits += suffix;
  return digits.starts_with('-') ? "(" + digits + ")" : digits;
}

// Whether the operators of C++ compute in the type, and wrap: narrower ones are promoted.
bool has_own_operators(DType type) { return type == DType::u32 || type == DType::u64; }

const char* sign_of(Code code) {
  switch (code) {
    case Code::add:
      return "+";
    case Code::sub:
      return "-";
    case Code::mul:
      return "*";
    case Code::div:
      return "/";
    case Code::rem:
      return "%";
    case Code::bit_and:
      return "&";
    case Code::bit_or:
      return "|";
    case Code::bit_xor:
      return "^";
    case Code::shift_left:
      return "<<";
    case Code::shift_right:
      return ">>";
    case Code::less:
      return "<";
    case Code::less_equal:
      return "<=";
    case Code::equal:
      return "==";
    default:
      return "!=";
  }
}

using Operand = std::function<std::string(std::size_t)>;

// Functions of the C library are std's, those of Function's second half of instructions.h.
std::string called(const Instruction& now, const Operand& operand) {
  using kernel::Function;
  const auto function = static_cast<Function>(now.number);
  const auto* name_space = function < Function::from_f16 ? "std::" : "";
  const auto arguments = kernel::operand_count(function) == 1 ? operand(0) : operand(0) + ", " + operand(1);
  return fmt::format("{}{}({})", name_space, kernel::name_of(function), arguments);
}

}  // namespace

std::string cuda_literal(DType type, std::uint64_t bits) {
  switch (type) {
    case DType::bool_:
      return bits != 0 ? "true" : "false";
    case DType::f32: {
      const auto number = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      return std::isfinite(number) ? float_literal(fmt::format("{}", number), "f")
                                   : fmt::format("__uint_as_float({:#x}u)", bits);
    }
    case DType::f64: {
      const auto number = std::bit_cast<double>(bits);
      return std::isfinite(number) ? float_literal(fmt::format("{}", number), "")
                                   : fmt::format("__longlong_as_double({:#x}ll)", bits);
    }
    case DType::u32:
      return fmt::format("{}u", bits);
    case DType::u64:
      return fmt::format("{}ull", bits);
    case DType::i32:
    case DType::i64: {
      const auto number = type == DType::i32 ? static_cast<std::int32_t>(bits) : static_cast<std::int64_t>(bits);
      const auto* suffix = type == DType::i32 ? "" : "ll";
      const bool is_least = number == (type == DType::i32 ? std::numeric_limits<std::int32_t>::min()
                                                          : std::numeric_limits<std::int64_t>::min());
      if (is_least) return fmt::format("({}{} - 1)", number + 1, suffix);  // a literal has no sign of its own
      return number < 0 ? fmt::format("({}{})", number, suffix) : fmt::format("{}{}", number, suffix);
    }
    default:
      return fmt::format("{}({})", storage_type(type), bits);
  }
}

std::string cuda_expression(const Instruction& now, const std::function<std::string(std::size_t)>& operand) {
  const auto type = now.type;
  const bool is_float = ir::is_floating(type), is_f32 = type == DType::f32;
  const auto call = [&](const char* function) { return fmt::format("{}({})", function, operand(0)); };
  switch (now.code) {
    case Code::get:
      return operand(0);
    case Code::join:
      return fmt::format("join({}, {})", operand(0), operand(1));
    case Code::broadcast:
      return fmt::format("broadcast({}, {})", operand(0), now.number);
    case Code::shuffle_xor:
      return fmt::format("__shfl_xor_sync(kWholeWarp, {}, {})", operand(0), now.number);
    case Code::fused_multiply_add:
      return fmt::format("{}({}, {}, {})", is_f32 ? "fmaf" : "fma", operand(0), operand(1), operand(2));
    case Code::select:
      return fmt::format("{} ? {} : {}", operand(0), operand(1), operand(2));
    case Code::convert:
      return cuda_cpp::cast(storage_type(type), operand(0));
    case Code::call:
      return called(now, operand);
    case Code::bits:
      return fmt::format("same_bits<{}>({})", storage_type(type), operand(0));
    case Code::floor:
      return call(is_f32 ? "floorf" : "floor");
    case Code::ceil:
      return call(is_f32 ? "ceilf" : "ceil");
    case Code::round_even:
      return call(is_f32 ? "rintf" : "rint");
    case Code::trunc:
      return call(is_f32 ? "truncf" : "trunc");
    case Code::sqrt:
      return call(is_f32 ? "__fsqrt_rn" : "__dsqrt_rn");
    case Code::abs:
      return call(is_f32 ? "fabsf" : "fabs");
    case Code::exp2:
      return call("exp2f");
    case Code::neg:
      return is_float ? "-" + operand(0) : call("wrapped_neg");
    case Code::bit_not:
      return ir::is_bool(type) ? "!" + operand(0) : cuda_cpp::cast(storage_type(type), "~" + operand(0));
    case Code::mul:  // the compiler contracts a `*` with a sum
      if (is_float) return fmt::format("{}({}, {})", is_f32 ? "__fmul_rn" : "__dmul_rn", operand(0), operand(1));
      break;
    default:
      break;
  }
  const bool wraps = now.code == Code::add || now.code == Code::sub || now.code == Code::mul;
  if (wraps && !is_float && !has_own_operators(type))
    return fmt::format("wrapped_{}({}, {})", kernel::name_of(now.code), operand(0), operand(1));
  auto value = fmt::format("{} {} {}", operand(0), sign_of(now.code), operand(1));
  const bool is_narrow = !is_float && !ir::is_bool(type) && kernel::bits_of(type) < 32;
  return is_narrow ? cuda_cpp::cast(storage_type(type), value) : value;
}

}  // namespace burn::compile
