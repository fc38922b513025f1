// A kernel as data: typed instructions that are printed for a device (dialects/spirv.h), or interpreted by tests.
//
// Every thread of a grid runs the body once. Threads are in blocks of `Kernel::threads`; those of a block share the
// shared arrays and can wait for each other. Values are in static single assignment form: an instruction's value is
// its position in the body, and can be used behind it, within the loop or branch that it stands in. What changes is a
// variable. Control flow is structured: `loop` .. `end_loop`, `when` .. `otherwise` .. `end_when`.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/types/dtype.h"

namespace burn::compile::kernel {

// What an instruction does: instructions.def says it of each.
enum class Code : std::uint8_t {
#define INSTRUCTION(name, operands, gives) name,
#include "compile/codegen/kernel/instructions.def"
#undef INSTRUCTION
};

// What a device computes by itself (Code::call). Those of the C library take and give f32 or f64. `from_f16` and
// `from_bf16` take the bits in memory as u16 and give f32, `to_f16` and `to_bf16` the reverse, to nearest even.
// `coarse` functions are of f32, for what is rounded to 16 bits before it is seen (backends/cuda/kernels/coarse.h).
enum class Function : std::uint8_t {
#define FUNCTION(name, operands) name,
#include "compile/codegen/kernel/functions.def"
#undef FUNCTION
};
inline constexpr int kFunctionCount = static_cast<int>(Function::coarse_div) + 1;
const char* name_of(Function function);
int operand_count(Function function);
// Of its operands and of what it gives; `type` where that is the type it is called with.
ir::DType operand_type(Function function, ir::DType type);
ir::DType result_type(Function function, ir::DType type);

struct Instruction {
  Code code = Code::constant;
  ir::DType type = ir::DType::bool_;  // of the value; of what is stored where there is none
  std::array<std::int32_t, 3> operands{-1, -1, -1};
  std::uint64_t number = 0;
};

// How many operands an instruction of that code and number takes.
int operand_count(const Instruction& instruction);
// Whether its number is a parameter that is an address, of whose elements it reads or writes some.
bool is_at_address(Code code);

struct Parameter {
  bool is_address = false;
  ir::DType type = ir::DType::f32;  // of the number, or of the elements in memory
  // Of an address of u32, where elements are of 8 or 16 bits: words count from the multiple of 4 at or before it.
  bool is_in_words = false;
};

// Of a block; undefined at first.
struct SharedArray {
  ir::DType type = ir::DType::f32;
  std::int64_t count = 0;
};

// Of a tile that is loaded: where it is used, the shared array, and how it lies there.
struct TileLoad {
  bool is_second = false;          // factor
  bool has_columns_apart = false;  // its lines are columns, else rows
  int array = 0;

  std::uint64_t number() const {
    return static_cast<std::uint64_t>(array) << 2 | (has_columns_apart ? 2U : 0U) | (is_second ? 1U : 0U);
  }
  static TileLoad of(std::uint64_t number) {
    return {(number & 1) != 0, (number & 2) != 0, static_cast<int>(number >> 2)};
  }
};
inline constexpr int kTileSize = 16;  // rows and columns

// The argument record of a launch is one word of 64 bits for each parameter, in their order: addresses, or numbers in
// the lower bits.
struct Kernel {
  int threads = 1;  // of a block
  std::vector<Parameter> parameters;
  std::vector<SharedArray> shared;
  std::vector<Instruction> body;
};

// The type in which elements of a dtype lie in memory: bool as u8, the 16-bit floats as u16, others as themselves.
ir::DType memory_type(ir::DType dtype);
int bits_of(ir::DType type);
bool is_signed(ir::DType type);
bool has_value(Code code);
const char* name_of(Code code);

// Equal for equal kernels alone.
std::string key(const Kernel& kernel);
// For people: a line for each instruction.
std::string text(const Kernel& kernel);

}  // namespace burn::compile::kernel
