#include "autodiff/rules.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "autodiff/attention_rule.h"
#include "autodiff/math.h"
#include "autodiff/pointwise_rules.h"
#include "base/error.h"

namespace burn::autodiff {

using client::apply;
using client::Place;
using client::place_of;

namespace {

Value zeros_like(const Value& x, const Step& s) {
  return client::filled(place_of(s.g), x.shape(), 0, x.dtype(), s.site);
}

Value zeros(const ir::Shape& shape, const Step& s) {
  return client::filled(place_of(s.g), shape, 0, s.g.dtype(), s.site);
}

// Runs a rule only for the operands that want it.
template <typename First>
OperandGradients one(const Step& s, First&& first) {
  OperandGradients result(s.x.size());
  if (s.needs[0]) result[0] = first();
  return result;
}

template <typename First, typename Second>
OperandGradients two(const Step& s, First&& first, Second&& second) {
  OperandGradients result(s.x.size());
  if (s.needs[0]) result[0] = first();
  if (s.needs[1]) result[1] = second();
  return result;
}

Value reverse(const Value& x, std::int64_t axis, const Step& s) { return client::flip(x, std::span{&axis, 1}, s.site); }

// At each place along `axis` the product of what comes before it.
Value product_before(const Value& x, std::int64_t axis, const Step& s) {
  ir::Shape one = x.shape();
  one[static_cast<int>(axis)] = 1;
  const auto shifted = std::array{client::filled(place_of(x), one, 1, x.dtype(), s.site),
                                  client::narrow(x, axis, 0, x.shape()[static_cast<int>(axis)] - 1, s.site)};
  return client::scan(ir::ReduceFn::prod, client::concat(shifted, axis, s.site), axis, s.site);
}

// The product of all the others along `axis`, without dividing (elements may be 0): what came before times what comes
// after.
Value product_of_others(const Value& x, std::int64_t axis, const Step& s) {
  return product_before(x, axis, s) * reverse(product_before(reverse(x, axis, s), axis, s), axis, s);
}

// t[k] = g[k] + f[k] t[k + 1] along the middle dim of [outer, n, inner], t[n] being 0. Every other one follows from the
// one two places on, which is the same with half the length; the ones between follow from those.
Value linear_recurrence(const Value& g, const Value& f, const Step& s) {
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

// Of z = cumprod(x): at each k, the sum over i >= k of g[i] times the product of x[j] with k < j <= i. No division:
// elements may be 0.
Value weighted_tail(const Value& x, const Value& g, std::int64_t axis, const Step& s) {
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

}  // namespace

namespace grad_rules {

// Ops that take no floating operand, or whose result is flat in it.
OperandGradients flat(const Step& s) { return OperandGradients(s.x.size()); }
OperandGradients rule(const ir::Constant&, const Step& s) { return flat(s); }
OperandGradients rule(const ir::Scalar&, const Step& s) { return flat(s); }
OperandGradients rule(const ir::Iota&, const Step& s) { return flat(s); }
OperandGradients rule(const ir::Random&, const Step& s) { return flat(s); }
OperandGradients rule(const ir::ArgReduce&, const Step& s) { return flat(s); }

OperandGradients rule(const ir::Pointwise& op, const Step& s) { return pointwise_gradients(op.fn, s); }

OperandGradients rule(const ir::Cast&, const Step& s) {
  return one(s, [&] { return client::cast(s.g, s.x[0].dtype(), s.site); });
}

OperandGradients rule(const ir::Reduce& op, const Step& s) {
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
      case ir::ReduceFn::max:
      case ir::ReduceFn::min: {                          // equals share the gradient
        const auto wide = ir::compute_dtype(x.dtype());  // counts them
        const auto is_extreme = client::cast(x == spread(s.y), wide, s.site);
        const auto share =
            client::cast(s.g, wide, s.site) / client::reduce(ir::ReduceFn::sum, is_extreme, op.axes, s.site);
        return client::cast(is_extreme * spread(share), x.dtype(), s.site);
      }
    }
    return {};
  });
}

OperandGradients rule(const ir::Scan& op, const Step& s) {
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
        // The element in force at i is the last position up to i that equalled the running extreme.
        const auto size = x.shape()[static_cast<int>(op.axis)];
        ir::Shape line = ir::Shape::filled(x.rank(), 1);
        line[static_cast<int>(op.axis)] = size;
        const auto place = place_of(s.g);
        const auto positions =
            client::expand(client::reshape(client::arange(place, 0, size, 1, ir::DType::i64, s.site), line, s.site),
                           x.shape(), s.site);
        const auto candidates =
            client::select(x == s.y, positions, client::constant(place, 0, ir::DType::i64, s.site), s.site);
        const auto source = client::scan(ir::ReduceFn::max, candidates, op.axis, s.site);
        return client::scatter(zeros_like(x, s), op.axis, source, s.g, ir::ScatterFn::add, s.site);
      }
    }
    return {};
  });
}

// Each element goes where it came from.
OperandGradients rule(const ir::Sort& op, const Step& s) {
  return one(s,
             [&] { return client::scatter(zeros_like(s.x[0], s), op.axis, s.ys[1], s.g, ir::ScatterFn::add, s.site); });
}

OperandGradients rule(const ir::MatMul&, const Step& s) {
  return two(
      s, [&] { return client::matmul(s.g, client::swap_dims(s.x[1], -2, -1, s.site), s.site); },
      [&] { return client::matmul(client::swap_dims(s.x[0], -2, -1, s.site), s.g, s.site); });
}

OperandGradients rule(const ir::Attention& op, const Step& s) { return attention_gradients(op, s); }

// Only recorded where nobody differentiates it: see attention_gradients.
OperandGradients rule(const ir::AttentionGrad&, const Step& s) {
  throw Error(
      StatusCode::unimplemented,
      "attention_grad has no gradient of its own; differentiate attention twice (at " + ir::to_string(s.site) + ")");
}

// Convolution and its two adjoints are linear in each operand, and each one's gradients are the other two.
ir::Dims spatial(const Value& x) { return ir::Dims{x.shape().span().subspan(2)}; }

OperandGradients rule(const ir::Conv& op, const Step& s) {
  return two(
      s,
      [&] {
        return apply(ir::ConvInputGrad{op.stride, op.pad_begin, op.pad_end, op.dilation, spatial(s.x[0]), op.groups},
                     s.g, s.x[1], s.site);
      },
      [&] {
        return apply(ir::ConvWeightGrad{op.stride, op.pad_begin, op.pad_end, op.dilation, spatial(s.x[1]), op.groups},
                     s.x[0], s.g, s.site);
      });
}

OperandGradients rule(const ir::ConvInputGrad& op, const Step& s) {
  return two(
      s,
      [&] {
        return apply(ir::Conv{op.stride, op.pad_begin, op.pad_end, op.dilation, op.groups}, s.g, s.x[1], s.site);
      },
      [&] {
        return apply(ir::ConvWeightGrad{op.stride, op.pad_begin, op.pad_end, op.dilation, spatial(s.x[1]), op.groups},
                     s.g, s.x[0], s.site);
      });
}

OperandGradients rule(const ir::ConvWeightGrad& op, const Step& s) {
  return two(
      s,
      [&] {
        return apply(ir::ConvInputGrad{op.stride, op.pad_begin, op.pad_end, op.dilation, spatial(s.x[0]), op.groups},
                     s.x[1], s.g, s.site);
      },
      [&] {
        return apply(ir::Conv{op.stride, op.pad_begin, op.pad_end, op.dilation, op.groups}, s.x[0], s.g, s.site);
      });
}

OperandGradients rule(const ir::AvgPool& op, const Step& s) {
  return one(s, [&] {
    return apply(ir::AvgPoolGrad{op.kernel, op.stride, op.padding,
                                 ir::Dims{s.x[0].shape().span().last(static_cast<std::size_t>(op.kernel.rank()))},
                                 op.count_include_pad, op.ceil_mode},
                 s.g, s.site);
  });
}

OperandGradients rule(const ir::AvgPoolGrad& op, const Step& s) {
  return one(s, [&] {
    return apply(ir::AvgPool{op.kernel, op.stride, op.padding, op.count_include_pad, op.ceil_mode}, s.g, s.site);
  });
}

OperandGradients rule(const ir::MaxPool&, const Step& s) {
  const auto flat = [&](const Value& v) { return v.rank() == 3 ? v : client::flatten(v, 2, -1, s.site); };
  return one(s, [&] {
    const Value zeros = flat(zeros_like(s.x[0], s));
    const Value sums = client::scatter(zeros, 2, flat(s.ys[1]), flat(s.g), ir::ScatterFn::add, s.site);
    return client::reshape(sums, s.x[0].shape(), s.site);
  });
}

OperandGradients rule(const ir::AdaptiveAvgPool& op, const Step& s) {
  const auto size = s.x[0].shape().span().last(static_cast<std::size_t>(op.output_size.rank()));
  return one(s, [&] { return apply(ir::AdaptiveAvgPoolGrad{ir::Dims{size}}, s.g, s.site); });
}

OperandGradients rule(const ir::AdaptiveAvgPoolGrad& op, const Step& s) {
  const auto size = s.x[0].shape().span().last(static_cast<std::size_t>(op.input_size.rank()));
  return one(s, [&] { return apply(ir::AdaptiveAvgPool{ir::Dims{size}}, s.g, s.site); });
}

OperandGradients rule(const ir::Reshape&, const Step& s) {
  return one(s, [&] { return client::reshape(s.g, s.x[0].shape(), s.site); });
}

OperandGradients rule(const ir::Permute& op, const Step& s) {
  ir::Dims inverse = op.axes;
  for (int i = 0; i < op.axes.rank(); ++i) inverse[static_cast<int>(op.axes[i])] = i;
  return one(s, [&] { return client::permute(s.g, inverse, s.site); });
}

OperandGradients rule(const ir::Expand&, const Step& s) {
  return one(s, [&] { return client::sum_to(s.g, s.x[0].shape(), s.site); });
}

OperandGradients rule(const ir::Slice& op, const Step& s) {
  return one(s, [&] { return apply(ir::SliceAssign{op.starts, op.steps}, zeros_like(s.x[0], s), s.g, s.site); });
}

OperandGradients rule(const ir::SliceAssign& op, const Step& s) {
  return two(
      s, [&] { return apply(op, s.g, zeros_like(s.x[1], s), s.site); },
      [&] {
        return apply(ir::Slice{op.starts, s.x[1].shape(), op.steps}, s.g, s.site);
      });
}

OperandGradients rule(const ir::Concat& op, const Step& s) {
  OperandGradients result(s.x.size());
  std::int64_t start = 0;
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    const auto length = s.x[i].shape()[static_cast<int>(op.axis)];
    if (s.needs[i]) result[i] = client::narrow(s.g, op.axis, start, length, s.site);
    start += length;
  }
  return result;
}

OperandGradients rule(const ir::Gather& op, const Step& s) {
  return one(s,
             [&] { return client::scatter(zeros_like(s.x[0], s), op.axis, s.x[1], s.g, ir::ScatterFn::add, s.site); });
}

// Except for add, targets are taken to be distinct.
OperandGradients rule(const ir::Scatter& op, const Step& s) {
  const Value &x = s.x[0], &index = s.x[1], &values = s.x[2];
  const auto gathered = [&](const Value& v) { return client::gather(v, op.axis, index, s.site); };
  const auto to_x = [&]() -> Value {
    switch (op.fn) {
      case ir::ScatterFn::add:
        return s.g;
      case ir::ScatterFn::assign:
        return client::scatter(s.g, op.axis, index, zeros(values.shape(), s), op.fn, s.site);
      case ir::ScatterFn::mul:
        return client::scatter(s.g, op.axis, index, values, op.fn, s.site);
      case ir::ScatterFn::max:
      case ir::ScatterFn::min:
        return select(x == s.y, s.g, 0.0);
    }
    return {};
  };
  const auto to_values = [&]() -> Value {
    switch (op.fn) {
      case ir::ScatterFn::add:
      case ir::ScatterFn::assign:
        return gathered(s.g);
      case ir::ScatterFn::mul:
        return gathered(s.g * x);
      case ir::ScatterFn::max:
        return select(values > gathered(x), gathered(s.g), 0.0);
      case ir::ScatterFn::min:
        return select(values < gathered(x), gathered(s.g), 0.0);
    }
    return {};
  };
  OperandGradients result(3);
  if (s.needs[0]) result[0] = to_x();
  if (s.needs[2]) result[2] = to_values();
  return result;
}

}  // namespace grad_rules

OperandGradients gradients(const ir::Op& op, const Step& step) {
  return std::visit([&](const auto& kind) { return grad_rules::rule(kind, step); }, op);  // qualified on purpose
}

}  // namespace burn::autodiff
