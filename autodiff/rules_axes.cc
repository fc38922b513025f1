#include <array>

#include "autodiff/rule_list.h"

namespace burn::autodiff {

using client::place_of;

namespace {

Value reverse(const Value& x, std::int64_t axis, const TapedOp& s) {
  return client::flip(x, std::span{&axis, 1}, s.site);
}

// At each position along `axis`, the product of the elements before it.
Value product_before(const Value& x, std::int64_t axis, const TapedOp& s) {
  ir::Shape one = x.shape();
  one[static_cast<int>(axis)] = 1;
  const auto shifted = std::array{client::filled(place_of(x), one, 1, x.dtype(), s.site),
                                  client::narrow(x, axis, 0, x.shape()[static_cast<int>(axis)] - 1, s.site)};
  return client::scan(ir::ReduceFn::prod, client::concat(shifted, axis, s.site), axis, s.site);
}

// For each element the product of all others along `axis`, without a division (elements may be 0): the product of those
// before it times that of those after it.
Value product_of_others(const Value& x, std::int64_t axis, const TapedOp& s) {
  return product_before(x, axis, s) * reverse(product_before(reverse(x, axis, s), axis, s), axis, s);
}

// t[k] = g[k] + f[k] t[k + 1] along the middle dim of [outer, n, inner], t[n] being 0. Every second t[k] depends on t[k
// + 2], which is a recurrence of half the length; the t[k] between them follow from its results.
Value linear_recurrence(const Value& g, const Value& f, const TapedOp& s) {
  const auto outer = g.dim(0), n = g.dim(1), inner = g.dim(2);
  if (n <= 1) return g;
  const auto with_zero = [&](const Value& v) {
    const auto parts = std::array{v, zeros({outer, 1, inner}, s)};
    return client::concat(parts, 1, s.site);
  };
  if (n % 2 != 0) return client::narrow(linear_recurrence(with_zero(g), with_zero(f), s), 1, 0, n, s.site);
  const auto half = [&](const Value& v, std::int64_t which) {
    return client::narrow(client::reshape(v, {outer, n / 2, 2 * inner}, s.site), 2, which * inner, inner, s.site);
  };
  const Value odd_g = half(g, 1), even_f = half(f, 0), odd_f = half(f, 1);
  const Value even = linear_recurrence(half(g, 0) + even_f * odd_g, even_f * odd_f, s);
  const Value next = client::narrow(with_zero(even), 1, 1, n / 2, s.site);
  const auto parts = std::array{even, odd_g + odd_f * next};
  return client::reshape(client::concat(parts, 2, s.site), g.shape(), s.site);
}

// For the gradient of z = cumprod(x): at each k, the sum over i >= k of g[i] times the product of x[j] with k < j <= i.
// Without a division, as elements may be 0.
Value weighted_tail(const Value& x, const Value& g, std::int64_t axis, const TapedOp& s) {
  const auto n = x.shape()[static_cast<int>(axis)];
  ir::Shape lines{1, n, 1};
  for (int i = 0; i < x.rank(); ++i) {
    if (i != axis) lines[i < axis ? 0 : 2] *= x.dim(i);
  }
  const auto parts = std::array{client::narrow(client::reshape(x, lines, s.site), 1, 1, n - 1, s.site),
                                zeros({lines[0], 1, lines[2]}, s)};
  const Value factors = client::concat(parts, 1, s.site);  // x[k + 1]
  return client::reshape(linear_recurrence(client::reshape(g, lines, s.site), factors, s), x.shape(), s.site);
}

// True where an element of x equals the chosen extreme of its line, or is NaN. `chosen` has x's shape.
Value is_chosen(const Value& x, const Value& chosen, const TapedOp& s) {
  return client::pointwise(Fn::bool_or, x == chosen, is_nan(x), s.site);
}

// The operand's gradient of an op that returns elements and their indices: scatters `g` to these indices.
Value where_they_came_from(std::int64_t axis, const TapedOp& s) {
  return client::scatter(zeros_like(s.x[0], s), axis, s.ys[1], s.g, ir::ScatterFn::add, s.site);
}

}  // namespace

namespace grad_rules {

OperandGradients rule(const ir::ArgReduce&, const TapedOp& s) { return flat(s); }

OperandGradients rule(const ir::Reduce& op, const TapedOp& s) {
  const Value& x = s.x[0];
  const auto spread = [&](const Value& v) { return client::expand(v, x.shape(), s.site); };
  return one(s, [&]() -> Value {
    if (x.type().num_elements() == 0) return zeros_like(x, s);
    switch (op.fn) {
      case ir::ReduceFn::sum:
        return spread(s.g);
      case ir::ReduceFn::prod: {
        // One axis at a time, innermost product first, so that the axes' products nest.
        Value others = spread(s.g);
        Value partial = x;
        for (const auto axis : op.axes) {
          others = others * client::expand(product_of_others(partial, axis, s), x.shape(), s.site);
          partial = client::reduce(ir::ReduceFn::prod, partial, ir::Dims{axis}, s.site);
        }
        return others;
      }
      // Shared evenly by the elements that equal the result. The others get 0 by a select: a product with 0 would be
      // NaN if the share is NaN or infinite.
      case ir::ReduceFn::max:
      case ir::ReduceFn::min: {
        const auto wide = ir::compute_dtype(x.dtype());  // counts them
        const auto chosen = is_chosen(x, spread(s.y), s);
        const auto count = client::reduce(ir::ReduceFn::sum, client::cast(chosen, wide, s.site), op.axes, s.site);
        const auto share = client::cast(client::cast(s.g, wide, s.site) / count, x.dtype(), s.site);
        return select(chosen, spread(share), 0.0);
      }
    }
    return {};
  });
}

OperandGradients rule(const ir::Scan& op, const TapedOp& s) {
  const Value& x = s.x[0];
  const auto tail_sum = [&](const Value& v) {  // z[i] = v[i] + v[i + 1] + ...
    return reverse(client::scan(ir::ReduceFn::sum, reverse(v, op.axis, s), op.axis, s.site), op.axis, s);
  };
  return one(s, [&]() -> Value {
    if (x.type().num_elements() == 0) return s.g;
    switch (op.fn) {
      case ir::ReduceFn::sum:
        return tail_sum(s.g);
      case ir::ReduceFn::prod:
        return product_before(x, op.axis, s) * weighted_tail(x, s.g, op.axis, s);
      case ir::ReduceFn::max:
      case ir::ReduceFn::min: {
        // The extreme at i comes from the last position up to i whose element equals the running extreme or is NaN (a
        // NaN remains the extreme).
        const auto size = x.shape()[static_cast<int>(op.axis)];
        ir::Shape line = ir::Shape::filled(x.rank(), 1);
        line[static_cast<int>(op.axis)] = size;
        const auto place = place_of(s.g);
        const auto positions =
            client::expand(client::reshape(client::arange(place, 0, size, 1, ir::DType::i64, s.site), line, s.site),
                           x.shape(), s.site);
        const auto candidates =
            client::select(is_chosen(x, s.y, s), positions, client::constant(place, 0, ir::DType::i64, s.site), s.site);
        const auto source = client::scan(ir::ReduceFn::max, candidates, op.axis, s.site);
        return client::scatter(zeros_like(x, s), op.axis, source, s.g, ir::ScatterFn::add, s.site);
      }
    }
    return {};
  });
}

OperandGradients rule(const ir::Sort& op, const TapedOp& s) {
  return one(s, [&] { return where_they_came_from(op.axis, s); });
}

OperandGradients rule(const ir::TopK& op, const TapedOp& s) {
  return one(s, [&] { return where_they_came_from(op.axis, s); });
}

OperandGradients rule(const ir::MatMul&, const TapedOp& s) {
  return two(
      s, [&] { return client::matmul(s.g, client::swap_dims(s.x[1], -2, -1, s.site), s.site); },
      [&] { return client::matmul(client::swap_dims(s.x[0], -2, -1, s.site), s.g, s.site); });
}

}  // namespace grad_rules
}  // namespace burn::autodiff
