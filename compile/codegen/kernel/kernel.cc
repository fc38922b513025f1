#include "compile/codegen/kernel/kernel.h"

#include <cstring>
#include <iterator>
#include <string_view>

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

constexpr int kOfFunction = -1;

struct CodeRow {
  const char* name;
  int operands;
  bool has_value;
};
constexpr CodeRow kCodes[] = {
#define INSTRUCTION(name, operands, gives) {#name, operands, std::string_view(#gives) == "value"},
#include "compile/codegen/kernel/instructions.def"
#undef INSTRUCTION
};

struct FunctionRow {
  const char* name;
  int operands;
};
constexpr FunctionRow kFunctions[] = {
#define FUNCTION(name, operands) {#name, operands},
#include "compile/codegen/kernel/functions.def"
#undef FUNCTION
};
static_assert(std::size(kFunctions) == kFunctionCount);

const CodeRow& row(Code code) { return kCodes[static_cast<std::size_t>(code)]; }
const FunctionRow& row(Function function) { return kFunctions[static_cast<std::size_t>(function)]; }

}  // namespace

ir::DType memory_type(ir::DType dtype) {
  if (dtype == ir::DType::bool_) return ir::DType::u8;
  return dtype == ir::DType::f16 || dtype == ir::DType::bf16 ? ir::DType::u16 : dtype;
}

int bits_of(ir::DType type) { return static_cast<int>(ir::size_of(type)) * 8; }

bool is_signed(ir::DType type) { return ir::dtype_class(type) == ir::DTypeClass::signed_integer; }

bool has_value(Code code) { return row(code).has_value; }

const char* name_of(Code code) { return row(code).name; }

const char* name_of(Function function) { return row(function).name; }

int operand_count(Function function) { return row(function).operands; }

int operand_count(const Instruction& instruction) {
  const auto count = row(instruction.code).operands;
  if (count != kOfFunction) return count;
  return instruction.number < kFunctionCount ? operand_count(static_cast<Function>(instruction.number)) : 1;
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

bool is_at_address(Code code) {
  switch (code) {
    case Code::load:
    case Code::store:
    case Code::atomic_add:
    case Code::load_wide:
    case Code::store_wide:
    case Code::load_pack:
    case Code::store_pack:
    case Code::store_bits:
      return true;
    default:
      return false;
  }
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
        if (is_at_address(code)) out += fmt::format(" p{}", instruction.number);
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
