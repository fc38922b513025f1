#include "compile/codegen/kernel/wide.h"

#include <optional>

#include "base/error.h"
#include "compile/codegen/kernel/writer.h"

namespace burn::compile::kernel {
namespace {

using enum ir::DType;

// Where the value is a constant.
std::optional<std::uint32_t> known(Value word) {
  const auto& made = word.writer->made(word);
  if (made.code != Code::constant) return std::nullopt;
  return static_cast<std::uint32_t>(made.number);
}
bool is_zero(Value word) { return known(word) == std::uint32_t{0}; }

Value sum(Value a, Value b) { return is_zero(a) ? b : is_zero(b) ? a : a + b; }
Value product(Value a, Value b) { return is_zero(a) ? a : is_zero(b) ? b : a * b; }
Value number_of(Value condition) { return select(condition, condition.writer->index(1), condition.writer->index(0)); }

// The upper word of a product of two words, by halves.
Value upper_product(Value a, Value b) {
  const Value a0 = a & 0xffff, a1 = a >> 16, b0 = b & 0xffff, b1 = b >> 16;
  const Value first = a1 * b0 + (a0 * b0 >> 16);
  const Value second = a0 * b1 + (first & 0xffff);
  return a1 * b1 + (first >> 16) + (second >> 16);
}

Wide magnitude_of(const Wide& a, Value is_negative) { return select(is_negative, negated(a), a); }
Value is_negative(const Wide& a) { return bits_as(i32, a.high) < 0; }

WideQuotient divided_without_sign(const Wide& a, const Wide& b) {
  auto& writer = *a.low.writer;
  const auto zero = writer.index(0);
  const auto low = writer.variable(zero), high = writer.variable(zero);
  const auto rest_low = writer.variable(zero), rest_high = writer.variable(zero);
  writer.when((a.high | b.high) == 0,
              [&] {
                const Value quotient = a.low / b.low;
                low.set(quotient);
                rest_low.set(a.low - quotient * b.low);
              },
              [&] {
                // Quotient and dividend share a pair: a bit of the one comes in where one of the other goes out.
                low.set(a.low);
                high.set(a.high);
                writer.loop(writer.index(64), [&](Value) {
                  const Value l = low.get(), h = high.get(), rl = rest_low.get(), rh = rest_high.get();
                  const Wide rest{(rl << 1) | (h >> 31), (rh << 1) | (rl >> 31)};
                  const Value fits =
                      (rh >> 31) != 0 || !is_less(rest, b, false);  // a bit that went out is above any divisor
                  const Wide after = select(fits, sub(rest, b), rest);
                  rest_low.set(after.low);
                  rest_high.set(after.high);
                  high.set((h << 1) | (l >> 31));
                  low.set((l << 1) | number_of(fits));
                });
              });
  return {{low.get(), high.get()}, {rest_low.get(), rest_high.get()}};
}

Value f32_without_sign(const Wide& a) {
  // Shifted until the upper word has its leading bit at 30, where it fits a signed word: what is below it only matters
  // as a bit of its own, as f32 has 24 bits.
  Value high = a.high >> 1, low = (a.high << 31) | (a.low >> 1);
  const Value last = a.low & 1;
  Value scale = high.writer->constant(f32, 0x1p33);
  for (int distance = 16; distance > 0; distance /= 2) {
    const Value is_small = high < (std::int64_t{1} << (31 - distance));
    high = select(is_small, (high << distance) | (low >> (32 - distance)), high);
    low = select(is_small, low << distance, low);
    scale = select(is_small, scale * (1.0F / static_cast<float>(1 << distance)), scale);
  }
  const Value top = high | number_of((low | last) != 0);
  const Value large = to(f32, bits_as(i32, top)) * scale;
  return select(a.high != 0, large, to_f32(a.low));  // below 2^32 the steps above do not reach that bit
}

}  // namespace

Wide wide_constant(Writer& writer, std::uint64_t bits) {
  return {writer.index(static_cast<std::int64_t>(bits & 0xffffffff)),
          writer.index(static_cast<std::int64_t>(bits >> 32))};
}

Wide add(const Wide& a, const Wide& b) {
  if (is_zero(a.low)) return {b.low, sum(a.high, b.high)};
  if (is_zero(b.low)) return {a.low, sum(a.high, b.high)};
  const Value low = a.low + b.low;
  return {low, sum(sum(a.high, b.high), number_of(low < a.low))};
}

Wide sub(const Wide& a, const Wide& b) { return {a.low - b.low, a.high - b.high - number_of(a.low < b.low)}; }

Wide mul(const Wide& a, const Wide& b) {
  const Value crossed = sum(product(a.low, b.high), product(a.high, b.low));
  return {a.low * b.low, sum(upper_product(a.low, b.low), crossed)};
}

Wide negated(const Wide& a) { return sub(wide_constant(*a.low.writer, 0), a); }

Wide shifted_left(const Wide& a, Value distance) {
  const Value by = distance & 31, zero = a.low.writer->index(0), is_word = 32 <= distance;
  const Value over = (a.low >> 1) >> (by ^ 31), low = a.low << by;
  return {select(is_word, zero, low), select(is_word, low, (a.high << by) | over)};
}

Wide shifted_right(const Wide& a, Value distance, bool has_sign) {
  const Value by = distance & 31, is_word = 32 <= distance;
  const Value over = (a.high << 1) << (by ^ 31);
  const Value high = has_sign ? bits_as(u32, bits_as(i32, a.high) >> bits_as(i32, by)) : a.high >> by;
  const Value out = has_sign ? bits_as(u32, bits_as(i32, a.high) >> 31) : a.low.writer->index(0);
  return {select(is_word, high, (a.low >> by) | over), select(is_word, out, high)};
}

Value is_equal(const Wide& a, const Wide& b) { return a.low == b.low && a.high == b.high; }

Value is_less(const Wide& a, const Wide& b, bool has_sign) {
  const Value high = has_sign ? bits_as(i32, a.high) < bits_as(i32, b.high) : a.high < b.high;
  return high || (a.high == b.high && a.low < b.low);
}

Wide select(Value condition, const Wide& a, const Wide& b) {
  return {select(condition, a.low, b.low), select(condition, a.high, b.high)};
}

WideQuotient divided(const Wide& a, const Wide& b, bool has_sign) {
  if (!has_sign) return divided_without_sign(a, b);
  const Value a_is_negative = is_negative(a), b_is_negative = is_negative(b);
  const auto found = divided_without_sign(magnitude_of(a, a_is_negative), magnitude_of(b, b_is_negative));
  return {magnitude_of(found.quotient, a_is_negative != b_is_negative), magnitude_of(found.rest, a_is_negative)};
}

Wide computed(Code code, const Wide& a, const Wide& b, bool has_sign) {
  switch (code) {
    case Code::add:
      return add(a, b);
    case Code::sub:
      return sub(a, b);
    case Code::mul:
      return mul(a, b);
    case Code::div:
      return divided(a, b, has_sign).quotient;
    case Code::rem:
      return divided(a, b, has_sign).rest;
    case Code::neg:
      return negated(a);
    case Code::bit_and:
      return {a.low & b.low, a.high & b.high};
    case Code::bit_or:
      return {a.low | b.low, a.high | b.high};
    case Code::bit_xor:
      return {a.low ^ b.low, a.high ^ b.high};
    case Code::bit_not:
      return {~a.low, ~a.high};
    case Code::shift_left:
      return shifted_left(a, b.low);
    case Code::shift_right:
      return shifted_right(a, b.low, has_sign);
    default:
      BURN_CHECK(false, "an instruction that is not of whole numbers of 64 bits");
  }
  return a;
}

Value compared(Code code, const Wide& a, const Wide& b, bool has_sign) {
  switch (code) {
    case Code::less:
      return is_less(a, b, has_sign);
    case Code::less_equal:
      return !is_less(b, a, has_sign);
    case Code::equal:
      return is_equal(a, b);
    default:
      return !is_equal(a, b);
  }
}

Value to_f32(Value word) {
  const Value half = (word >> 1) | (word & 1);  // where a signed word has no room: the last bit only matters as any
  const Value large = to(f32, bits_as(i32, half)) * 2.0F, small = to(f32, bits_as(i32, word));
  return select(bits_as(i32, word) < 0, large, small);
}

Value to_f32(const Wide& a, bool has_sign) {
  if (!has_sign) return f32_without_sign(a);
  const Value below = is_negative(a), real = f32_without_sign(magnitude_of(a, below));
  return select(below, -real, real);
}

Wide wide_of_f32(Value x, bool has_sign) {
  const Value magnitude = has_sign ? unary(Code::abs, x) : x;
  const Value high = to(u32, magnitude * 0x1p-32F);
  const Value low = to(u32, magnitude - to(f32, high) * 0x1p32F);
  const Wide whole{low, high};
  return has_sign ? magnitude_of(whole, x < 0) : whole;
}

}  // namespace burn::compile::kernel
