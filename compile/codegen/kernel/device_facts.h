// What the shape and the text of a kernel depend on, of the device that it is for.
#pragma once

#include <cstdint>

namespace burn::compile {

struct DeviceFacts {
  int multiprocessors = 0;
  std::int64_t shared_bytes = 0;  // of a multiprocessor
  // Of memory in one piece, a multiple of 256: what is larger is refused, and the memory of a plan is in pages of as
  // many bytes (plan/arena.h). 0: no limit of its own.
  std::uint64_t max_allocation = 0;

  // Asked by kernels of the kernel language alone (kernel/kernel.h).
  std::int64_t shared_bytes_per_block = 32768;
  int max_threads = 1024;  // of a block
  int subgroup_size = 32;
  bool has_shuffles = true;  // between threads of a subgroup (Code::shuffle_xor)
  bool has_f64 = true;
  bool has_int64 = true;   // whole numbers of 64 bits in registers; without them there is no f64 either
  bool has_narrow = true;  // whole numbers of 8 and 16 bits, in registers and in memory
  // Functions and conversions of 16-bit floats are the device's own (Code::call): few units in the last place off, with
  // the C library's special values.
  bool has_functions = false;
  // Powers of two of f32 (Code::exp2) are within two units in the last place, with the C library's special values.
  bool has_exp2 = false;
  // Tiles of 16 x 16 elements that a subgroup multiplies together, with sums of f32 (Code::tile_multiply).
  bool has_f16_tiles = false, has_bf16_tiles = false;
  bool keeps_nan_f32 =
      true;  // the driver can be told to keep NaN, infinities and the sign of 0 (shaderSignedZeroInfNanPreserve)
  bool keeps_nan_f64 = true;
  // Loops end after some ten thousand rounds, whatever their end is (llvmpipe: 65,535 of all loops of a thread).
  bool has_limited_loops = false;
  bool has_slow_barriers =
      false;  // as CPUs that play a GPU: a loop of one thread is then faster than threads that wait
};

}  // namespace burn::compile
