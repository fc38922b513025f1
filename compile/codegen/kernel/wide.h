// Whole numbers of 64 bits as pairs of words of 32, for devices that have none (legalise.h).
#pragma once

#include <cstdint>

#include "compile/codegen/kernel/value.h"

namespace burn::compile::kernel {

// Two u32.
struct Wide {
  Value low, high;
};

Wide wide_constant(Writer& writer, std::uint64_t bits);

// All wrap, as those of 64 bits do.
Wide add(const Wide& a, const Wide& b);
Wide sub(const Wide& a, const Wide& b);
Wide mul(const Wide& a, const Wide& b);
Wide negated(const Wide& a);

// `distance`: u32, less than 64.
Wide shifted_left(const Wide& a, Value distance);
Wide shifted_right(const Wide& a, Value distance, bool has_sign);

Value is_equal(const Wide& a, const Wide& b);
Value is_less(const Wide& a, const Wide& b, bool has_sign);
Wide select(Value condition, const Wide& a, const Wide& b);

// Toward zero. Requires: b is not 0. Numbers that both fit into 32 bits are divided by the device, others bit by bit.
struct WideQuotient {
  Wide quotient, rest;
};
WideQuotient divided(const Wide& a, const Wide& b, bool has_sign);

// By instruction: add to shift_right, of two operands or the first one alone; less to not_equal.
Wide computed(Code code, const Wide& a, const Wide& b, bool has_sign);
Value compared(Code code, const Wide& a, const Wide& b, bool has_sign);

// To nearest even; of a u32, too, which SwiftShader's own conversion rounds twice.
Value to_f32(Value word);
Value to_f32(const Wide& a, bool has_sign);
// Toward zero. Requires: the number fits.
Wide wide_of_f32(Value x, bool has_sign);

}  // namespace burn::compile::kernel
