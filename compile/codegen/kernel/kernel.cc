#include "compile/codegen/kernel/kernel.h"

#include <cstring>

#include <fmt/format.h>

namespace burn::compile::kernel {
namespace {

class Bytes {
 public:
  template <typename T>
  void put(T value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

int operand_count(const Instruction& instruction) {
  int count = 0;
  while (count < 3 && instruction.operands[static_cast<std::size_t>(count)] >= 0) ++count;
  return count;
}

}  // namespace

ir::DType memory_type(ir::DType dtype) {
  if (dtype == ir::DType::bool_) return ir::DType::u8;
  return dtype == ir::DType::f16 || dtype == ir::DType::bf16 ? ir::DType::u16 : dtype;
}

int bits_of(ir::DType type) { return static_cast<int>(ir::size_of(type)) * 8; }

bool is_signed(ir::DType type) { return ir::dtype_class(type) == ir::DTypeClass::signed_integer; }

bool has_value(Code code) {
  switch (code) {
    case Code::store:
    case Code::store_shared:
    case Code::store_wide:
    case Code::store_pack:
    case Code::store_shared_pack:
    case Code::store_bits:
    case Code::tile_multiply:
    case Code::tile_store:
    case Code::set:
    case Code::break_when:
    case Code::end_loop:
    case Code::when:
    case Code::otherwise:
    case Code::end_when:
    case Code::barrier:
      return false;
    default:
      return true;
  }
}

const char* name_of(Code code) {
  static constexpr const char* kNames[] = {"constant",
                                           "parameter",
                                           "thread",
                                           "block",
                                           "blocks",
                                           "load",
                                           "store",
                                           "atomic_add",
                                           "load_shared",
                                           "store_shared",
                                           "load_wide",
                                           "store_wide",
                                           "load_pack",
                                           "store_pack",
                                           "load_shared_pack",
                                           "word",
                                           "join",
                                           "store_shared_pack",
                                           "tile_sums",
                                           "tile_load",
                                           "tile_multiply",
                                           "tile_store",
                                           "variable",
                                           "get",
                                           "set",
                                           "loop",
                                           "break_when",
                                           "end_loop",
                                           "when",
                                           "otherwise",
                                           "end_when",
                                           "barrier",
                                           "broadcast",
                                           "shuffle_xor",
                                           "add",
                                           "sub",
                                           "mul",
                                           "div",
                                           "rem",
                                           "neg",
                                           "fused_multiply_add",
                                           "bit_and",
                                           "bit_or",
                                           "bit_xor",
                                           "bit_not",
                                           "shift_left",
                                           "shift_right",
                                           "less",
                                           "less_equal",
                                           "equal",
                                           "not_equal",
                                           "select",
                                           "convert",
                                           "bits",
                                           "call",
                                           "floor",
                                           "ceil",
                                           "round_even",
                                           "trunc",
                                           "sqrt",
                                           "abs",
                                           "exp2",
                                           "parameter_word",
                                           "store_bits"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(Code::store_bits) + 1);
  return kNames[static_cast<int>(code)];
}

const char* name_of(Function function) {
  static constexpr const char* kNames[] = {"acos",
                                           "acosh",
                                           "asin",
                                           "asinh",
                                           "atan",
                                           "atanh",
                                           "cos",
                                           "cosh",
                                           "erf",
                                           "exp",
                                           "expm1",
                                           "log",
                                           "log1p",
                                           "sin",
                                           "sinh",
                                           "tan",
                                           "tanh",
                                           "atan2",
                                           "fmod",
                                           "hypot",
                                           "pow",
                                           "from_f16",
                                           "from_bf16",
                                           "to_f16",
                                           "to_bf16",
                                           "coarse_exp",
                                           "coarse_recip",
                                           "coarse_rsqrt",
                                           "coarse_sigmoid",
                                           "coarse_sqrt",
                                           "coarse_tanh",
                                           "coarse_tanh_beside_one",
                                           "coarse_div"};
  static_assert(std::size(kNames) == kFunctionCount);
  return kNames[static_cast<int>(function)];
}

int operand_count(Function function) {
  using enum Function;
  return function == atan2 || function == fmod || function == hypot || function == pow || function == coarse_div ? 2
                                                                                                                 : 1;
}

ir::DType operand_type(Function function, ir::DType type) {
  using enum Function;
  if (function == from_f16 || function == from_bf16) return ir::DType::u16;
  return function >= to_f16 ? ir::DType::f32 : type;
}

ir::DType result_type(Function function, ir::DType type) {
  using enum Function;
  if (function == to_f16 || function == to_bf16) return ir::DType::u16;
  return function >= from_f16 ? ir::DType::f32 : type;
}

std::string key(const Kernel& kernel) {
  Bytes bytes;
  bytes.put(kernel.threads);
  bytes.put(kernel.parameters.size());
  for (const auto& parameter : kernel.parameters) {
    bytes.put(parameter.is_address);
    bytes.put(parameter.type);
    bytes.put(parameter.is_in_words);
  }
  bytes.put(kernel.shared.size());
  for (const auto& array : kernel.shared) {
    bytes.put(array.type);
    bytes.put(array.count);
  }
  for (const auto& instruction : kernel.body) {
    bytes.put(instruction.code);
    bytes.put(instruction.type);
    for (const auto operand : instruction.operands) bytes.put(operand);
    bytes.put(instruction.number);
  }
  return bytes.take();
}

std::string text(const Kernel& kernel) {
  std::string out = fmt::format("kernel of {} threads(", kernel.threads);
  for (std::size_t k = 0; k < kernel.parameters.size(); ++k) {
    const auto& parameter = kernel.parameters[k];
    out += fmt::format("{}{}{} p{}", k == 0 ? "" : ", ", ir::name(parameter.type), parameter.is_address ? "*" : "", k);
  }
  out += ")\n";
  for (std::size_t k = 0; k < kernel.shared.size(); ++k)
    out += fmt::format("  shared {} s{}[{}]\n", ir::name(kernel.shared[k].type), k, kernel.shared[k].count);
  std::size_t depth = 1;
  for (std::size_t i = 0; i < kernel.body.size(); ++i) {
    const auto& instruction = kernel.body[i];
    const auto code = instruction.code;
    if (code == Code::end_loop || code == Code::otherwise || code == Code::end_when) --depth;
    out += std::string(2 * depth, ' ');
    if (has_value(code)) out += fmt::format("{} v{} = ", ir::name(instruction.type), i);
    out += name_of(code);
    switch (code) {
      case Code::constant:
      case Code::broadcast:
      case Code::shuffle_xor:
      case Code::tile_load:
      case Code::call:
      case Code::word:
      case Code::block:
      case Code::blocks:
        out += fmt::format(" {:#x}", instruction.number);
        break;
      case Code::parameter_word:
        out += fmt::format(" p{}.{}", instruction.number / 2, instruction.number % 2 == 0 ? "lower" : "upper");
        break;
      case Code::parameter:
      case Code::load:
      case Code::store:
      case Code::atomic_add:
      case Code::load_wide:
      case Code::store_wide:
      case Code::load_pack:
      case Code::store_pack:
      case Code::store_bits:
        out += fmt::format(" p{}", instruction.number);
        break;
      case Code::load_shared:
      case Code::store_shared:
      case Code::load_shared_pack:
      case Code::store_shared_pack:
      case Code::tile_store:
        out += fmt::format(" s{}", instruction.number);
        break;
      default:
        break;
    }
    for (int k = 0; k < operand_count(instruction); ++k)
      out += fmt::format(" v{}", instruction.operands[static_cast<std::size_t>(k)]);
    out += '\n';
    if (code == Code::loop || code == Code::otherwise || code == Code::when) ++depth;
  }
  return out;
}

}  // namespace burn::compile::kernel
