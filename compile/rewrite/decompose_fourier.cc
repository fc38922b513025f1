// The Fourier transform as products with small matrices: a length n = r m is r transforms of length m, after r-point
// ones across them (J. W. Cooley, J. W. Tukey, Math. Comp. 19, 1965); lengths with large prime factors are convolutions
// (Bluestein). The tables of cosines are computed by the device from whole numbers, so that angles are exact but for
// one rounding: in double, or in single where the device has no other, of angles up to half a turn.
#include <array>
#include <numbers>

#include "compile/rewrite/decompose_rules.h"

namespace burn::compile::decomposition {
namespace {

using ir::DType;
using ir::PointwiseFn;
using ir::Ref;

constexpr std::int64_t kLargestMatrix = 64;  // of a transform that is one product
constexpr std::int64_t kLargestPrime = 512;  // that is a product, too

struct Parts {
  Ref re, im;
};

class Transformer {
 public:
  Transformer(Composer& to, DType dtype) : to_(to), dtype_(dtype) {}

  // Forwards, along the middle dim of [outer, n, inner].
  Parts transform(Parts x, std::int64_t outer, std::int64_t n, std::int64_t inner) {
    if (n <= kLargestMatrix) return multiply(x, outer, n, inner);
    auto r = kLargestMatrix;
    while (n % r != 0) --r;
    if (r == 1) return n <= kLargestPrime ? multiply(x, outer, n, inner) : convolve(x, outer, n, inner);
    const auto m = n / r;
    // x[j1 m + j2] -> y[k1, j2] -> turned by e^(-2 pi i j2 k1 / n) -> z[k1, k2] -> X[k1 + r k2]
    x = multiply(x, outer, r, m * inner);
    const Parts turns = roots(products(r, m), n);
    x = times(reshaped(x, {outer, r, m, inner}), turns, {1, r, m, 1}, {outer, r, m, inner});
    x = transform(reshaped(x, {outer * r, m, inner}), outer * r, m, inner);
    x = reshaped(x, {outer, r, m, inner});
    x = {to_.add(ir::Permute{{0, 2, 1, 3}}, {x.re}), to_.add(ir::Permute{{0, 2, 1, 3}}, {x.im})};
    return reshaped(x, {outer, n, inner});
  }

  Parts reshaped(Parts x, const ir::Shape& shape) {
    return {to_.add(ir::Reshape{shape}, {x.re}), to_.add(ir::Reshape{shape}, {x.im})};
  }

 private:
  Ref add(PointwiseFn fn, Ref a, Ref b) { return to_.add(fn, {a, b}); }
  Ref iota(std::int64_t n, const ir::Shape& shape) {
    return to_.add(ir::Reshape{shape}, {to_.add(ir::Iota{DType::i64, n}, {})});
  }
  // i64 [a, b]: i j.
  Ref products(std::int64_t a, std::int64_t b) {
    const ir::Expand both{{a, b}};
    return add(PointwiseFn::mul, to_.add(both, {iota(a, {a, 1})}), to_.add(both, {iota(b, {1, b})}));
  }
  // cos and -sin of 2 pi p / n, for whole numbers p.
  Parts roots(Ref p, std::int64_t n) {
    const auto turn = 2 * std::numbers::pi / static_cast<double>(n);
    const auto type = to_.widest_float();
    const auto wrapped = [&](Ref x) { return add(PointwiseFn::remainder, x, to_.integer(n)); };
    const auto centred = [&](Ref half) {  // -n / 2 and above
      return add(PointwiseFn::sub, wrapped(add(PointwiseFn::add, p, half)), half);
    };
    const auto whole = type == DType::f64 ? wrapped(p) : centred(to_.integer(n / 2));
    const auto angle = add(PointwiseFn::mul, to_.cast(whole, DType::i64, type), to_.number(type, turn));
    return {to_.cast(to_.add(PointwiseFn::cos, {angle}), type, dtype_),
            to_.cast(to_.add(PointwiseFn::neg, {to_.add(PointwiseFn::sin, {angle})}), type, dtype_)};
  }

  // Element by element; b, of other dims, seen as `line` and expanded.
  Parts times(Parts a, Parts b, const ir::Shape& line, const ir::Shape& shape) {
    const auto wide = [&](Ref x) { return to_.add(ir::Expand{shape}, {to_.add(ir::Reshape{line}, {x})}); };
    const Ref c = wide(b.re), w = wide(b.im);
    return {add(PointwiseFn::sub, add(PointwiseFn::mul, a.re, c), add(PointwiseFn::mul, a.im, w)),
            add(PointwiseFn::add, add(PointwiseFn::mul, a.re, w), add(PointwiseFn::mul, a.im, c))};
  }

  // (C + i S)(re + i im) as one product: [[C, -S], [S, C]] [re; im].
  Parts multiply(Parts x, std::int64_t outer, std::int64_t n, std::int64_t inner) {
    if (n == 1) return x;
    const Parts w = roots(products(n, n), n);
    const auto beside = [&](Ref a, Ref b) { return to_.add(ir::Concat{1}, {a, b}); };
    const Ref table = to_.add(ir::Concat{0}, {beside(w.re, to_.add(PointwiseFn::neg, {w.im})), beside(w.im, w.re)});
    if (inner == 1) {  // rows of one large product
      const Parts rows = reshaped(x, {outer, n});
      const Ref y = to_.add(ir::MatMul{}, {beside(rows.re, rows.im), to_.add(ir::Permute{{1, 0}}, {table})});
      const auto half = [&](std::int64_t start) { return to_.add(ir::Slice{{0, start}, {outer, n}, {1, 1}}, {y}); };
      return {half(0), half(n)};
    }
    const Ref batch = to_.add(ir::Expand{{outer, 2 * n, 2 * n}}, {to_.add(ir::Reshape{{1, 2 * n, 2 * n}}, {table})});
    const Parts flat = reshaped(x, {outer, n, inner});
    const Ref y = to_.add(ir::MatMul{}, {batch, beside(flat.re, flat.im)});
    const auto half = [&](std::int64_t start) {
      return to_.add(ir::Slice{{0, start, 0}, {outer, n, inner}, {1, 1, 1}}, {y});
    };
    return {half(0), half(n)};
  }

  // X[k] = w[k] sum over j of (x[j] w[j]) conj(w[k - j]), w[k] = e^(-pi i k^2 / n).
  Parts convolve(Parts x, std::int64_t outer, std::int64_t n, std::int64_t inner) {
    std::int64_t length = 1;
    while (length < 2 * n - 1) length *= 2;
    const ir::Shape line{1, n, 1}, shape{outer, n, inner}, longer{outer, length, inner};
    const Ref k = iota(n, {n});
    const Parts w = roots(add(PointwiseFn::mul, k, k), 2 * n);
    Parts a = times(reshaped(x, shape), w, line, shape);
    const auto padded = [&](Ref v, std::int64_t before, std::int64_t rest, std::int64_t after) {
      return to_.add(ir::Concat{1}, {v, to_.filled(dtype_, 0, {before, rest, after})});
    };
    a = {padded(a.re, outer, length - n, inner), padded(a.im, outer, length - n, inner)};
    // Around the circle: w[0..n), zeros, w[n - 1] down to w[1].
    const auto around = [&](Ref v, bool negate) {
      if (negate) v = to_.add(PointwiseFn::neg, {v});
      const Ref forth = to_.add(ir::Reshape{line}, {v});
      const Ref back = to_.add(ir::Slice{{0, n - 1, 0}, {1, n - 1, 1}, {1, -1, 1}}, {forth});
      return to_.add(ir::Concat{1}, {forth, to_.filled(dtype_, 0, {1, length - 2 * n + 1, 1}), back});
    };
    const Parts response = transform({around(w.re, false), around(w.im, true)}, 1, length, 1);
    a = times(transform(a, outer, length, inner), response, {1, length, 1}, longer);
    const Parts back = transform({a.im, a.re}, outer, length, inner);  // backwards
    const Ref scale = to_.number(dtype_, 1.0 / static_cast<double>(length));
    const auto part = [&](Ref v) {
      const Ref first = to_.add(ir::Slice{{0, 0, 0}, shape, {1, 1, 1}}, {v});
      return add(PointwiseFn::mul, first, scale);
    };
    return times({part(back.im), part(back.re)}, w, line, shape);
  }

  Composer& to_;
  const DType dtype_;
};

// A tensor as [outer, n, inner] around an axis.
struct AxisSplit {
  std::int64_t outer = 1, n = 1, inner = 1;
  AxisSplit(const ir::Shape& shape, std::int64_t axis) {
    for (int i = 0; i < shape.rank(); ++i) (i < axis ? outer : i == axis ? n : inner) *= shape[i];
  }
};

Parts along(Composer& to, const ir::TensorType& type, std::int64_t axis, Parts x, bool inverse) {
  if (type.num_elements() == 0) return {to.filled(type.dtype, 0, type.shape), to.filled(type.dtype, 0, type.shape)};
  const AxisSplit at(type.shape, axis);
  Transformer transformer(to, type.dtype);
  if (inverse) x = {x.im, x.re};
  x = transformer.reshaped(x, {at.outer, at.n, at.inner});
  x = transformer.reshaped(transformer.transform(x, at.outer, at.n, at.inner), type.shape);
  return inverse ? Parts{x.im, x.re} : x;
}

// The first `size` along the axis, or `size` from `start` on backwards.
Ref cut(Composer& to, Ref x, ir::Shape shape, std::int64_t axis, std::int64_t start, std::int64_t size,
        std::int64_t step) {
  auto starts = ir::Dims::filled(shape.rank(), 0), steps = ir::Dims::filled(shape.rank(), 1);
  starts[static_cast<int>(axis)] = start;
  steps[static_cast<int>(axis)] = step;
  shape[static_cast<int>(axis)] = size;
  return to.add(ir::Slice{starts, shape, steps}, {x});
}

}  // namespace

Results compose(Composer& to, const ir::Fft& op, Operands in) {
  const auto type = to.type_of(in[0]);
  const auto y = along(to, type, op.axis, {in[0], in[1]}, op.inverse);
  return {y.re, y.im};
}

Results compose(Composer& to, const ir::RealFft& op, Operands in) {
  const auto type = to.type_of(in[0]);
  const auto half = type.shape[static_cast<int>(op.axis)] / 2 + 1;
  const auto y = along(to, type, op.axis, {in[0], to.filled(type.dtype, 0, type.shape)}, false);
  return {cut(to, y.re, type.shape, op.axis, 0, half, 1), cut(to, y.im, type.shape, op.axis, 0, half, 1)};
}

Results compose(Composer& to, const ir::InverseRealFft& op, Operands in) {
  const auto half = to.type_of(in[0]);
  ir::TensorType type = half;
  type.shape[static_cast<int>(op.axis)] = op.length;
  if (type.num_elements() == 0) return {to.filled(type.dtype, 0, type.shape)};
  // The imaginary parts of the ends are 0; the second half is the conjugate of the first.
  const auto size = half.shape[static_cast<int>(op.axis)], others = op.length - size;
  ir::Shape line = ir::Shape::filled(half.shape.rank(), 1);
  line[static_cast<int>(op.axis)] = size;
  const auto k = to.add(ir::Expand{half.shape}, {to.add(ir::Reshape{line}, {to.add(ir::Iota{DType::i64, size}, {})})});
  auto is_end = to.add(PointwiseFn::equal, {k, to.integer(0)});
  if (op.length % 2 == 0)
    is_end = to.add(PointwiseFn::bool_or, {is_end, to.add(PointwiseFn::equal, {k, to.integer(op.length / 2)})});
  const auto im = to.add(PointwiseFn::select, {is_end, to.number(half.dtype, 0), in[1]});
  Parts x{in[0], im};
  if (others > 0) {
    const auto mirrored = [&](Ref v) { return cut(to, v, half.shape, op.axis, others, others, -1); };
    x = {to.add(ir::Concat{op.axis}, {in[0], mirrored(in[0])}),
         to.add(ir::Concat{op.axis}, {im, to.add(PointwiseFn::neg, {mirrored(im)})})};
  }
  return {along(to, type, op.axis, x, true).re};
}

}  // namespace burn::compile::decomposition
