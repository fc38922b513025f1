#include "backends/cpu/simd/philox.h"

#include <algorithm>
#include <utility>

#include "backends/cpu/simd/dispatch.h"
#include "ir/semantics/philox.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd/philox.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace burn::backends::cpu::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

void run(std::uint64_t seed, std::uint64_t first, int blocks, std::uint32_t* bits) {
  for (int i = 0; i < blocks; ++i)
    std::ranges::copy(ir::philox(seed, first + static_cast<std::uint64_t>(i)), bits + 4 * i);
}

#else

namespace hn = hwy::HWY_NAMESPACE;

using U64 = hn::ScalableTag<std::uint64_t>;
using U32 = hn::Repartition<std::uint32_t, U64>;
using W = hn::Vec<U64>;

constexpr int kRounds = 10;

// The counters of as many blocks as there are lanes. Only the lower half of each 64-bit word is used: the upper half is
// left over from products, and never read.
struct Counters {
  W c0, c1, c2, c3;

  HWY_INLINE void round(W key0, W key1) {
    const U32 u32;
    const W a = hn::MulEven(hn::BitCast(u32, c0), hn::Set(u32, 0xD2511F53u));
    const W b = hn::MulEven(hn::BitCast(u32, c2), hn::Set(u32, 0xCD9E8D57u));
    c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(b), c1), key0);
    c1 = b;
    c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(a), c3), key1);
    c3 = a;
  }

  HWY_INLINE void store(std::uint32_t* bits) const {
    const W lower = hn::Set(U64(), 0xffffffffu);
    const auto pair = [lower](W x, W y) HWY_ATTR { return hn::Or(hn::And(x, lower), hn::ShiftLeft<32>(y)); };
    hn::StoreInterleaved2(pair(c0, c1), pair(c2, c3), U64(), reinterpret_cast<std::uint64_t*>(bits));
  }
};

HWY_INLINE Counters start(W block) { return {block, hn::ShiftRight<32>(block), hn::Zero(U64()), hn::Zero(U64())}; }

void run(std::uint64_t seed, std::uint64_t first, int blocks, std::uint32_t* bits) {
  const U64 u64;
  const int lanes = static_cast<int>(hn::Lanes(u64));
  std::uint64_t keys[kRounds][2];
  auto key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
  for (auto& of_round : keys) {
    of_round[0] = std::exchange(key0, key0 + 0x9E3779B9);
    of_round[1] = std::exchange(key1, key1 + 0xBB67AE85);
  }
  const W positions = hn::Iota(u64, 0);
  for (int i = 0; i < blocks; i += 2 * lanes) {  // two at a time: a product takes several cycles
    const auto at = [&](int block) HWY_ATTR {
      return hn::Add(positions, hn::Set(u64, first + static_cast<std::uint64_t>(block)));
    };
    Counters a = start(at(i)), b = start(at(i + lanes));
    for (const auto& of_round : keys) {
      const W k0 = hn::Set(u64, of_round[0]), k1 = hn::Set(u64, of_round[1]);
      a.round(k0, k1);
      b.round(k0, k1);
    }
    a.store(bits + std::ptrdiff_t{4} * i);
    b.store(bits + std::ptrdiff_t{4} * (i + lanes));
  }
}

#endif

}  // namespace
}  // namespace burn::backends::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace burn::backends::cpu {
HWY_EXPORT(run);

void philox_bits(std::uint64_t seed, std::uint64_t first, int blocks, std::uint32_t* bits) {
  BURN_BEST_VECTORS(run)(seed, first, blocks, bits);
}

}  // namespace burn::backends::cpu
#endif
