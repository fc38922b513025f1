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
  // Several elements that lie side by side. The first one's address is a multiple of all their bytes.
  load_wide,   // number: parameter; operand: index of the first element; gives as many bytes as the type has, as one
               // whole number
  store_wide,  // number: parameter; operands: index of the first element, a whole number
  load_pack,   // number: parameter; operand: index of the first element: 16 bytes, whose words of 32 bits `word` gives
  store_pack,  // number: parameter; operands: index of the first element, its lower 8 bytes, its upper ones
  load_shared_pack,   // number: shared array of elements of 32 bits; operand: index, a multiple of 4: four elements,
                      // which `word` gives
  word,               // operand: a pack; number: which of its four
  join,               // u64; operands: its lower 32 bits, its upper ones
  store_shared_pack,  // number: shared array of elements of 32 bits; operands: index, a multiple of 4, lower 8 bytes,
                      // upper ones
  // Tiles of 16 x 16 elements that the threads of a subgroup have together: all of them reach it, with the same
  // operands. Devices that have it for a dtype: DeviceFacts::has_f16_tiles, has_bf16_tiles.
  tile_sums,      // f32: a variable with zeros
  tile_load,      // type: f16 or bf16; number: TileLoad::number(); operands: index of the first of the words of 32 bits
                  // that have the elements, and words from line to line, both multiples of 4
  tile_multiply,  // operands: sums, a tile that is a first factor, one that is a second one: adds their product
  tile_store,     // number: shared array of f32; operands: index of the first element, elements from row to row, sums
  variable,       // operand: the first value
  get,            // operand: a variable
  set,            // operands: variable, value
  loop,           // operands: begin, end, step; gives the counter, which begins at begin and is less than end
  break_when,     // operand: a bool; leaves the innermost loop
  end_loop,
  when,  // operand: a bool
  otherwise,
  end_when,
  barrier,    // all threads of the block reach it, and see what the others have written to shared arrays; number: 1, to
              // memory, too
  broadcast,  // operand: a value; number: which thread of its subgroup's it gives to all of them. Subgroups are threads
              // of a block side by side, DeviceFacts::subgroup_size of them; requires: all of the subgroup reach it
  shuffle_xor,  // operand: a value of 32 bits; number: gives each thread what the thread has whose place in the
                // subgroup differs in these bits; requires: as broadcast
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
  call,     // of a float: number: Function; operands: as many as it has; requires: DeviceFacts::has_functions
  // Of floats.
  floor,
  ceil,
  round_even,
  trunc,
  sqrt,
  abs,
  exp2,  // of f32; requires: DeviceFacts::has_exp2
  // What legalised() writes (legalise.h); no Writer makes them.
  parameter_word,  // u32; number: 2 * which parameter + 1 for the upper half of its word in the argument record; also
                   // of addresses
  store_bits,  // number: which parameter, an address of u32; operands: index, value, mask: the bits that are set in the
               // mask become those of the value, which has no others. Threads may change different bits of one word at
               // the same time
};

// What a device computes by itself (Code::call). Those of the C library take and give f32 or f64. `from_f16` and
// `from_bf16` take the bits in memory as u16 and give f32, `to_f16` and `to_bf16` the reverse, to nearest even.
// `coarse` functions are of f32, for what is rounded to 16 bits before it is seen (backends/cuda/kernels/coarse.h).
enum class Function : std::uint8_t {
  acos,
  acosh,
  asin,
  asinh,
  atan,
  atanh,
  cos,
  cosh,
  erf,
  exp,
  expm1,
  log,
  log1p,
  sin,
  sinh,
  tan,
  tanh,
  atan2,
  fmod,
  hypot,
  pow,
  from_f16,
  from_bf16,
  to_f16,
  to_bf16,
  coarse_exp,
  coarse_recip,
  coarse_rsqrt,
  coarse_sigmoid,
  coarse_sqrt,
  coarse_tanh,
  coarse_tanh_beside_one,
  coarse_div,
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
