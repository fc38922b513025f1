#include "backends/cpu/kernels/random.h"

#include <algorithm>

#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/run.h"
#include "backends/cpu/simd/philox.h"
#include "ir/dispatch.h"
#include "ir/random_box.h"
#include "ir/semantics/philox.h"

namespace burn::backends::cpu {
namespace {

constexpr int kBlocks = 64;  // of four numbers, computed side by side

}  // namespace
}  // namespace burn::backends::cpu

#define BURN_ISA_FILE "backends/cpu/simd/random_loops.h"
#include "backends/cpu/simd/foreach.h"

namespace burn::backends::cpu {
namespace {

// The numbers of the kBlocks blocks from `first` on.
void uniform_blocks(std::uint64_t seed, std::uint64_t first, float* out) {
  std::uint32_t bits[4 * kBlocks];
  philox_bits(seed, first, kBlocks, bits);
  BURN_BEST(uniform_floats)(bits, out);
}

template <typename T>
void random_blocks(ir::RandomFn fn, std::uint64_t seed, std::uint64_t first, T* out) {
  if constexpr (std::is_same_v<T, float>) {
    if (fn == ir::RandomFn::uniform) return uniform_blocks(seed, first, out);
  }
  for (std::uint64_t i = 0; i < kBlocks; ++i) {
    std::ranges::copy(ir::random_block<T>(fn, seed, first + i), out + 4 * i);
  }
}

// Numbers [begin, begin + n) of a stream that starts at block `first`.
template <typename T>
void numbers(ir::RandomFn fn, std::uint64_t seed, std::uint64_t first, std::int64_t begin, std::int64_t n, T* out) {
  constexpr std::int64_t kSize = std::int64_t{4} * kBlocks;
  while (n > 0) {
    const auto skipped = begin % 4;
    const auto block = first + static_cast<std::uint64_t>(begin / 4);
    std::int64_t count = kSize;
    if (skipped == 0 && n >= kSize) {
      random_blocks(fn, seed, block, out);
    } else {
      T some[kSize];
      random_blocks(fn, seed, block, some);
      count = std::min(n, kSize - skipped);
      std::copy_n(some + skipped, count, out);
    }
    begin += count;
    out += count;
    n -= count;
  }
}

// The same, on several threads.
template <typename T>
void fill(ir::RandomFn fn, std::uint64_t seed, std::uint64_t first, std::int64_t begin, std::int64_t n, T* out) {
  constexpr std::int64_t kSize = std::int64_t{4} * kBlocks;
  parallel_for((n + kSize - 1) / kSize, kGrain / kSize / 4, [&](std::int64_t from, std::int64_t to) {
    numbers(fn, seed, first, begin + from * kSize, std::min(to * kSize, n) - from * kSize, out + from * kSize);
  });
}

}  // namespace

void random_floats(ir::RandomFn fn, std::uint64_t seed, std::uint64_t first, std::int64_t begin, std::int64_t n,
                   float* out) {
  numbers(fn, seed, first, begin, n, out);
}

namespace kernels {

Result<Kernel> prepare(const ir::Random& op, const Signature&) {
  return Kernel([op](Run& run, std::span<Array>) -> Result<Array> {
    BURN_TRY(Array y, run.allocate({op.dtype, op.shape}));
    const auto first = run.random_offset + static_cast<std::uint64_t>(op.offset);
    ir::dispatch(op.dtype, [&]<typename T>() {
      if constexpr (ir::kIsDrawn<T>) {
        ir::for_each_stretch(op, [&](std::int64_t to, std::int64_t position, std::int64_t n) {
          fill(op.fn, run.seed, first, position, n, y.as<T>() + to);
        });
      }
    });
    return y;
  });
}

}  // namespace kernels
}  // namespace burn::backends::cpu
