// Convolution and pooling: every output visits every position of its window.
#include <algorithm>

#include "tests/reference/interpreter.h"

namespace burn::reference::rules {
namespace {

// [n, c, spatial...] from its parts.
ir::Dims image_index(std::int64_t n, std::int64_t c, const ir::Dims& spatial) {
  ir::Dims index{n, c};
  for (const auto i : spatial) index.push_back(i);
  return index;
}

ir::Dims spatial_part(const ir::Dims& dims) { return ir::Dims(dims.span().subspan(2)); }

bool is_inside(const ir::Dims& index, const ir::Dims& sizes) {
  for (int i = 0; i < sizes.rank(); ++i) {
    if (index[i] < 0 || index[i] >= sizes[i]) return false;
  }
  return true;
}

// Calls body(position in input, in weight, in output) for every product that a convolution adds up.
template <typename Op, typename Body>
void for_each_product(const Op& op, const ir::Shape& input, const ir::Shape& weight, const ir::Shape& output,
                      const Body& body) {
  const auto out_per_group = weight[0] / op.groups;
  ir::Shape window = weight;  // [1, c_in / groups, kernel...]
  window[0] = 1;
  for_each_index(output, [&](const ir::Dims& to) {
    const auto channel = to[1] / out_per_group * weight[1];
    const auto result = position(output, to), filter = static_cast<std::size_t>(to[1] * ir::num_elements(window));
    for_each_index(window, [&](const ir::Dims& element) {
      ir::Dims from = to;  // [n, channel, spatial...]
      from[1] = channel + element[1];
      for (int i = 2; i < from.rank(); ++i) {
        from[i] = to[i] * op.stride[i - 2] - op.pad_begin[i - 2] + element[i] * op.dilation[i - 2];
        if (from[i] < 0 || from[i] >= input[i]) return;
      }
      body(position(input, from), filter + position(window, element), result);
    });
  });
}

// Calls body(position of an output, of an input element of its window, divisor) for pooling by means.
template <typename Op, typename Body>
void for_each_mean(const Op& op, const ir::Shape& input, const ir::Shape& output, const Body& body) {
  for_each_index(output, [&](const ir::Dims& to) {
    std::int64_t divisor = 0;
    std::vector<std::size_t> elements;
    for_each_index(op.kernel, [&](const ir::Dims& offset) {
      ir::Dims at = spatial_part(to);
      bool in_padded = true;
      for (int i = 0; i < at.rank(); ++i) {
        at[i] = at[i] * op.stride[i] - op.padding[i] + offset[i];
        in_padded = in_padded && at[i] < input[i + 2] + op.padding[i];
      }
      const bool inside = is_inside(at, spatial_part(input));
      if (inside) elements.push_back(position(input, image_index(to[0], to[1], at)));
      if (op.count_include_pad ? in_padded : inside) ++divisor;
    });
    for (const auto element : elements) body(position(output, to), element, static_cast<double>(divisor));
  });
}

template <typename Body>
void for_each_adaptive(const ir::Shape& input, const ir::Shape& output, const Body& body) {
  for_each_index(output, [&](const ir::Dims& to) {
    ir::Dims start = spatial_part(to), size = start;
    for (int i = 0; i < start.rank(); ++i) {
      const auto in = input[i + 2], out = output[i + 2];
      start[i] = to[i + 2] * in / out;
      size[i] = ((to[i + 2] + 1) * in + out - 1) / out - start[i];
    }
    for_each_index(size, [&](ir::Dims at) {
      for (int i = 0; i < at.rank(); ++i) at[i] += start[i];
      body(position(output, to), position(input, image_index(to[0], to[1], at)),
           static_cast<double>(ir::num_elements(size)));
    });
  });
}

// Sums in double, rounded once at the end.
class Sums {
 public:
  explicit Sums(const ir::TensorType& type) : result_(type), sums_(result_.size()) {}
  void add(std::size_t i, double value) { sums_[i] += value; }
  Tensor rounded() {
    for (std::size_t i = 0; i < sums_.size(); ++i) result_.set(i, sums_[i]);
    return std::move(result_);
  }

 private:
  Tensor result_;
  std::vector<double> sums_;
};

}  // namespace

Tensor evaluate(const ir::Conv& op, const ir::TensorType& type, Operands in, const Bindings&) {
  Sums y(type);
  for_each_product(op, in[0]->type.shape, in[1]->type.shape, type.shape,
                   [&](auto x, auto w, auto to) { y.add(to, in[0]->get<double>(x) * in[1]->get<double>(w)); });
  return y.rounded();
}

Tensor evaluate(const ir::ConvInputGrad& op, const ir::TensorType& type, Operands in, const Bindings&) {
  Sums x(type);
  for_each_product(op, type.shape, in[1]->type.shape, in[0]->type.shape,
                   [&](auto to, auto w, auto y) { x.add(to, in[0]->get<double>(y) * in[1]->get<double>(w)); });
  return x.rounded();
}

Tensor evaluate(const ir::ConvWeightGrad& op, const ir::TensorType& type, Operands in, const Bindings&) {
  Sums weight(type);
  for_each_product(op, in[0]->type.shape, type.shape, in[1]->type.shape,
                   [&](auto x, auto to, auto y) { weight.add(to, in[0]->get<double>(x) * in[1]->get<double>(y)); });
  return weight.rounded();
}

Tensor evaluate(const ir::AvgPool& op, const ir::TensorType& type, Operands in, const Bindings&) {
  Sums y(type);
  for_each_mean(op, in[0]->type.shape, type.shape,
                [&](auto to, auto from, double divisor) { y.add(to, in[0]->get<double>(from) / divisor); });
  return y.rounded();
}

Tensor evaluate(const ir::AvgPoolGrad& op, const ir::TensorType& type, Operands in, const Bindings&) {
  Sums x(type);
  for_each_mean(op, type.shape, in[0]->type.shape,
                [&](auto from, auto to, double divisor) { x.add(to, in[0]->get<double>(from) / divisor); });
  return x.rounded();
}

Tensor evaluate(const ir::AdaptiveAvgPool&, const ir::TensorType& type, Operands in, const Bindings&) {
  Sums y(type);
  for_each_adaptive(in[0]->type.shape, type.shape,
                    [&](auto to, auto from, double divisor) { y.add(to, in[0]->get<double>(from) / divisor); });
  return y.rounded();
}

Tensor evaluate(const ir::AdaptiveAvgPoolGrad&, const ir::TensorType& type, Operands in, const Bindings&) {
  Sums x(type);
  for_each_adaptive(type.shape, in[0]->type.shape,
                    [&](auto from, auto to, double divisor) { x.add(to, in[0]->get<double>(from) / divisor); });
  return x.rounded();
}

std::vector<Tensor> evaluate(const ir::MaxPool& op, const ir::TensorType& type, Operands in, const Bindings&) {
  const Tensor& x = *in[0];
  const ir::Shape sizes = spatial_part(x.type.shape);
  Tensor values(type), positions({ir::DType::i64, type.shape});
  visit_kind(x.type.dtype, [&]<typename T>() {
    for_each_index(type.shape, [&](const ir::Dims& to) {
      std::int64_t best = -1;
      T largest{};
      for_each_index(op.kernel, [&](const ir::Dims& offset) {
        ir::Dims at = spatial_part(to);
        for (int i = 0; i < at.rank(); ++i) at[i] = at[i] * op.stride[i] - op.padding[i] + offset[i] * op.dilation[i];
        if (!is_inside(at, sizes)) return;
        const T value = x.get<T>(position(x.type.shape, image_index(to[0], to[1], at)));
        const bool wins = best < 0 || (!is_nan(largest) && (is_nan(value) || value > largest));
        if (!wins) return;
        best = static_cast<std::int64_t>(position(sizes, at));
        largest = value;
      });
      values.set(position(type.shape, to), largest);
      positions.set(position(type.shape, to), best);
    });
  });
  return {values, positions};
}

std::vector<Tensor> evaluate(const ir::AdaptiveMaxPool&, const ir::TensorType& type, Operands in, const Bindings&) {
  const Tensor& x = *in[0];
  const auto plane = ir::num_elements(spatial_part(x.type.shape));
  Tensor values(type), positions({ir::DType::i64, type.shape});
  visit_kind(x.type.dtype, [&]<typename T>() {
    std::vector<std::int64_t> best(values.size(), -1);
    for_each_adaptive(x.type.shape, type.shape, [&](std::size_t to, std::size_t from, double) {
      const T value = x.get<T>(from), largest = best[to] < 0 ? T{} : x.get<T>(static_cast<std::size_t>(best[to]));
      const bool wins = best[to] < 0 || (!is_nan(largest) && (is_nan(value) || value > largest));
      if (wins) best[to] = static_cast<std::int64_t>(from);
    });
    for (std::size_t i = 0; i < best.size(); ++i) {
      values.set(i, x.get<T>(static_cast<std::size_t>(best[i])));
      positions.set(i, best[i] % plane);
    }
  });
  return {values, positions};
}

}  // namespace burn::reference::rules
