// Transforms are linear: their gradients are the adjoint transforms.
#include <algorithm>

#include "autodiff/rule_list.h"

namespace burn::autodiff {
namespace {

using client::place_of;

// How often each number of a spectrum's first half occurs in the full spectrum, as [1, ..., size, ..., 1]: once, or
// twice if its conjugate occurs, too.
Value multiplicity(const Value& half, std::int64_t axis, std::int64_t length, const TapedOp& s) {
  const auto size = half.dim(static_cast<int>(axis));
  ir::Shape line = ir::Shape::filled(half.rank(), 1);
  line[static_cast<int>(axis)] = size;
  const auto last = length % 2 == 0 ? length / 2 : length;  // for an odd length, the last one also occurs twice
  const Value k = client::reshape(client::arange(place_of(half), 0, size, 1, ir::DType::i64, s.site), line, s.site);
  const Value is_once = client::pointwise(Fn::bool_or, k == 0.0, k == static_cast<double>(last), s.site);
  return select(is_once, literal(half, 1), 2.0);
}

}  // namespace

namespace grad_rules {

OperandGradients rule(const ir::Fft& op, const TapedOp& s) {
  const Value parts[] = {arrived(0, s), arrived(1, s)};
  auto both = client::apply_all(ir::Fft{op.axis, !op.inverse}, parts, s.site);
  return two(
      s, [&] { return both[0]; }, [&] { return both[1]; });
}

OperandGradients rule(const ir::RealFft& op, const TapedOp& s) {
  return one(s, [&]() -> Value {
    const auto length = s.x[0].dim(static_cast<int>(op.axis));
    const Value re = arrived(0, s), im = arrived(1, s);
    const Value times = multiplicity(re, op.axis, length, s);
    return client::apply(ir::InverseRealFft{op.axis, length}, re / times, im / times, s.site);
  });
}

OperandGradients rule(const ir::InverseRealFft& op, const TapedOp& s) {
  auto spectrum = client::apply_all(ir::RealFft{op.axis}, s.g, s.site);
  const Value times = multiplicity(spectrum[0], op.axis, op.length, s);
  return two(
      s, [&] { return spectrum[0] * times; }, [&] { return spectrum[1] * times; });
}

}  // namespace grad_rules
}  // namespace burn::autodiff
