#include "compile/codegen/kernel/random.h"

#include <array>
#include <numbers>

#include "compile/codegen/kernel/functions.h"
#include "compile/codegen/kernel/writer.h"

namespace burn::compile::kernel {
namespace {

using enum ir::DType;
using Lanes = std::array<Value, 4>;

// Four words of 32 random bits: ten rounds of Philox4x32.
Lanes philox(Value seed, Value block, int plane) {
  auto& writer = *seed.writer;
  const auto word = [&](std::int64_t number) { return writer.constant(u32, number); };
  Lanes counter{to(u32, block), to(u32, block >> 32), word(plane), word(0)};
  Value low = to(u32, seed), high = to(u32, seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const Value a = to(u64, counter[0]) * std::int64_t{0xD2511F53};
    const Value b = to(u64, counter[2]) * std::int64_t{0xCD9E8D57};
    counter = {to(u32, b >> 32) ^ counter[1] ^ low, to(u32, b), to(u32, a >> 32) ^ counter[3] ^ high, to(u32, a)};
    low = low + std::int64_t{0x9E3779B9};
    high = high + std::int64_t{0xBB67AE85};
  }
  return counter;
}

Value lane_of(const Lanes& lanes, Value lane) {
  const Value is_odd = (lane & 1) != 0;
  return select((lane & 2) != 0, select(is_odd, lanes[3], lanes[2]), select(is_odd, lanes[1], lanes[0]));
}

Value uniform(ir::DType type, Value upper, Value lower) {
  if (type == f32) return to(f32, upper >> 8) * 0x1p-24F;
  return to(f64, ((to(u64, upper) << 32) | to(u64, lower)) >> 11) * 0x1p-53;
}

}  // namespace

Value random_at(ir::RandomFn fn, ir::DType type, Value seed, Value first, Value position) {
  const Value block = first + (position >> 2), lane = to(u32, position & 3);
  const auto upper = philox(seed, block, 0);
  const auto lower = type == f32 ? upper : philox(seed, block, 1);
  if (fn == ir::RandomFn::bits) return (to(u64, lane_of(upper, lane)) << 32) | to(u64, lane_of(lower, lane));
  if (fn == ir::RandomFn::uniform) return uniform(type, lane_of(upper, lane), lane_of(lower, lane));
  // Box and Muller: of a pair of lanes the first gives the radius, the second the angle.
  const Value is_second = (lane & 2) != 0;
  const Value radius_bits = select(is_second, upper[2], upper[0]);
  const Value angle = uniform(type, select(is_second, upper[3], upper[1]), select(is_second, lower[3], lower[1])) *
                      (2 * std::numbers::pi);
  const Value u = (to(type, radius_bits) + 1.0F) * 0x1p-32F;
  const Value radius = sqrt(log(u) * -2.0F);
  return radius * select((lane & 1) != 0, sin(angle), cos(angle));
}

}  // namespace burn::compile::kernel
