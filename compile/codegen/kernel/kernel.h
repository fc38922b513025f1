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

#include "ir/dtype.h"

namespace burn::compile::kernel {

// What an instruction does. Operands are values, in this order; "number" is Instruction::number.
enum class Code : std::uint8_t {
  constant,      // number: its bits, those above the type's size 0
  parameter,     // number: which parameter, a number
  thread,        // u32: this thread in its block
  block,         // u32: number: 0 or 1, the axis. May be as large as the grid's size on axis 0, or larger
  blocks,        // u32: of the grid, along axis `number`
  load,          // number: which parameter, an address; operand: index in elements
  store,         // number: parameter; operands: index, value
  atomic_add,    // number: parameter; operands: index, value (32 bits); gives what was there before
  load_shared,   // number: which shared array; operand: index
  store_shared,  // number: shared array; operands: index, value
  variable,      // operand: the first value
  get,           // operand: a variable
  set,           // operands: variable, value
  loop,          // operands: begin, end, step; gives the counter, which begins at begin and is less than end
  break_when,    // operand: a bool; leaves the innermost loop
  end_loop,
  when,  // operand: a bool
  otherwise,
  end_when,
  barrier,    // all threads of the block reach it, and see what the others have written to shared arrays; number: 1, to
              // memory, too
  broadcast,  // operand: a value; number: which thread of its subgroup's it gives to all of them. Subgroups are threads
              // of a block side by side, DeviceFacts::subgroup_size of them; requires: all of the subgroup reach it
  // Of whole numbers and floats. Whole numbers wrap. div, rem: toward zero; requires: no division by 0 or of the
  // smallest number by -1; rem is of whole numbers.
  add,
  sub,
  mul,
  div,
  rem,
  neg,
  fused_multiply_add,  // a * b + c, rounded once or twice
  // Of whole numbers, and bool but for shifts. A shift's distance is less than the bits of its type.
  bit_and,
  bit_or,
  bit_xor,
  bit_not,
  shift_left,
  shift_right,  // keeps the sign of signed types
  // Give bool. Of floats, all but not_equal are false where one operand is NaN.
  less,
  less_equal,
  equal,
  not_equal,
  select,   // operands: bool, if it is true, if it is false
  convert,  // between numbers, floats to whole numbers toward zero; requires: the number fits
  bits,     // the same bits as another type of that size
  // Of floats.
  floor,
  ceil,
  round_even,
  trunc,
  sqrt,
  abs,
};

struct Instruction {
  Code code = Code::constant;
  ir::DType type = ir::DType::bool_;  // of the value; of what is stored where there is none
  std::array<std::int32_t, 3> operands{-1, -1, -1};
  std::uint64_t number = 0;
};

struct Parameter {
  bool is_address = false;
  ir::DType type = ir::DType::f32;  // of the number, or of the elements in memory
};

// Of a block; undefined at first.
struct SharedArray {
  ir::DType type = ir::DType::f32;
  std::int64_t count = 0;
};

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
