// Pools over 1 to 3 spatial dims: a thread for each result, which visits its window, or, of gradients, the windows that
// it is in.
#include <functional>

#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernels/lines.h"
#include "compile/codegen/kernels/lower.h"
#include "compile/codegen/kernels/tile.h"

namespace burn::compile::kernels {
namespace {

using kernel::Value;
using Values = std::vector<Value>;

Value most(Value a, Value b) { return select(a < b, b, a); }

// Input positions [begin, end), each `step`, of a window along one dim, and its factor of the divisor of a mean; or
// outputs whose windows have an input.
struct Span {
  Value begin, end, step, divisor;
};

// How windows lie, along each spatial dim.
class Windows {
 public:
  Windows(Arguments& arguments, const ir::Shape& input, const ir::Shape& output) : one_(arguments.constant(1)) {
    for (int d = 2; d < input.rank(); ++d) {
      input_.push_back(arguments.number(input[d]));
      output_.push_back(arguments.number(output[d]));
    }
  }
  virtual ~Windows() = default;

  std::size_t rank() const { return input_.size(); }
  const Values& input() const { return input_; }
  const Values& output() const { return output_; }
  virtual Span window(std::size_t d, Value output) const = 0;
  virtual Span outputs_of(std::size_t d, Value input) const = 0;

 protected:
  Value one_;
  Values input_, output_;
};

// From floor(i * in / out) to ceil((i + 1) * in / out).
class AdaptiveWindows final : public Windows {
 public:
  using Windows::Windows;

  Span window(std::size_t d, Value output) const override {
    const Value begin = output * input_[d] / output_[d];
    const Value end = ((output + 1) * input_[d] + output_[d] - 1) / output_[d];
    return {begin, end, one_, end - begin};
  }
  Span outputs_of(std::size_t d, Value input) const override {
    return {input * output_[d] / input_[d], ((input + 1) * output_[d] + input_[d] - 1) / input_[d], one_, one_};
  }
};

class SlidingWindows final : public Windows {
 public:
  template <typename Op>
  SlidingWindows(Arguments& arguments, const Op& op, const ir::Shape& input, const ir::Shape& output)
      : Windows(arguments, input, output) {
    for (int d = 0; d < op.kernel.rank(); ++d) {
      kernel_.push_back(arguments.number(op.kernel[d]));
      stride_.push_back(arguments.number(op.stride[d]));
      padding_.push_back(arguments.number(op.padding[d]));
      if constexpr (requires { op.dilation; }) dilation_.push_back(arguments.number(op.dilation[d]));
    }
    if constexpr (requires { op.count_include_pad; }) counts_padding_ = op.count_include_pad;
  }

  Span window(std::size_t d, Value output) const override {
    const Value start = output * stride_[d] - padding_[d];
    const Value zero = start.number(0);
    if (!dilation_.empty()) {
      const Value step = dilation_[d];
      const Value first = select(start < zero, start + (step - 1 - start) / step * step, start);
      return {first, least(start + (kernel_[d] - 1) * step + 1, input_[d]), step, one_};
    }
    const Value begin = most(start, zero), end = least(start + kernel_[d], input_[d]);
    const Value counted = least(start + kernel_[d], input_[d] + padding_[d]) - start;
    return {begin, end, one_, counts_padding_ ? counted : end - begin};
  }
  Span outputs_of(std::size_t d, Value input) const override {
    const Value from_start = input + padding_[d];
    const Value before = from_start - kernel_[d];  // the last start whose window is all before the input
    const Value zero = before.number(0);
    const Value begin = select(before < zero, zero, most(before, zero) / stride_[d] + 1);
    return {begin, least(from_start / stride_[d] + 1, output_[d]), one_, one_};
  }

 private:
  Values kernel_, stride_, padding_, dilation_;
  bool counts_padding_ = true;
};

// A result's place [n, c, spatial...], from its position.
struct Place {
  Value n, c;
  Values spatial;
};

Place place_of(Value position, Value channels, const Values& sizes) {
  Place place;
  place.spatial.resize(sizes.size());
  for (std::size_t d = sizes.size(); d-- > 0;) {
    const Value rest = position / sizes[d];
    place.spatial[d] = position - rest * sizes[d];
    position = rest;
  }
  place.n = position / channels;
  place.c = position - place.n * channels;
  return place;
}

// body(at) for every place of the spans.
void each(kernel::Writer& writer, const std::vector<Span>& spans, Values& at, const std::function<void()>& body) {
  if (at.size() == spans.size()) return body();
  const auto& span = spans[at.size()];
  writer.loop(span.begin, span.end, span.step, [&](Value i) {
    at.push_back(i);
    each(writer, spans, at, body);
    at.pop_back();
  });
}

using MakeWindows = std::function<std::unique_ptr<Windows>(Arguments& arguments)>;

template <typename Op>
MakeWindows windows_of(const Op& op, const ir::Shape& input, const ir::Shape& output) {
  return [&](Arguments& arguments) -> std::unique_ptr<Windows> {
    if constexpr (requires { op.kernel; })
      return std::make_unique<SlidingWindows>(arguments, op, input, output);
    else
      return std::make_unique<AdaptiveWindows>(arguments, input, output);
  };
}

// What the kernels of pools have in common: a result, the operand by its strides.
class PoolKernel {
 public:
  // `sizes`: whether results lie as outputs of the pool, or as its inputs.
  PoolKernel(const View& from, const View& to, const MakeWindows& make, bool is_of_outputs)
      : writer_(256),
        arguments_(writer_, index_of<2>({&from, &to}, largest(from, to))),
        count_(to.num_elements()),
        from_(arguments_.address(from)),
        to_(arguments_.address(to)),
        strides_(arguments_.numbers({from.strides.begin(), from.strides.end()})),
        channels_(arguments_.number(to.shape[1])),
        windows_(make(arguments_)),
        position_(arguments_.position()),
        is_of_outputs_(is_of_outputs) {}

  kernel::Writer& writer() { return writer_; }
  Arguments& arguments() { return arguments_; }
  const Windows& windows() const { return *windows_; }
  kernel::Memory to() const { return to_; }
  Value position() const { return position_; }

  void launch(Emitter& emit, const std::function<void(const Place& place, Value plane)>& body) {
    writer_.when(position_ < arguments_.number(count_), [&] {
      const auto place = place_of(position_, channels_, is_of_outputs_ ? windows_->output() : windows_->input());
      body(place, place.n * strides_[0] + place.c * strides_[1]);
    });
    arguments_.launch(emit, count_);
  }
  Value load(Value plane, const Values& at) {
    for (std::size_t d = 0; d < at.size(); ++d) plane = plane + at[d] * strides_[d + 2];
    return writer_.load(from_, plane);
  }

 private:
  // Products of positions and sizes are computed, too.
  static std::int64_t largest(const View& from, const View& to) {
    std::int64_t most = to.num_elements();
    for (int d = 2; d < from.rank(); ++d) {
      const auto side = std::max(from.shape[d], to.shape[d]) + 1;
      most = std::max(most, side * side);
    }
    return most;
  }

  kernel::Writer writer_;
  Arguments arguments_;
  std::int64_t count_;
  kernel::Memory from_, to_;
  Values strides_;
  Value channels_;
  std::unique_ptr<Windows> windows_;
  Value position_;
  bool is_of_outputs_;
};

Value product_of(const std::vector<Span>& spans) {
  Value product = spans[0].divisor;
  for (std::size_t d = 1; d < spans.size(); ++d) product = product * spans[d].divisor;
  return product;
}

Status mean(Emitter& emit, const View& x, const View& y, const MakeWindows& make) {
  if (y.num_elements() == 0) return {};
  PoolKernel pool(x, y, make, true);
  auto& writer = pool.writer();
  const auto type = ir::compute_dtype(y.dtype);
  pool.launch(emit, [&](const Place& place, Value plane) {
    std::vector<Span> spans;
    for (std::size_t d = 0; d < place.spatial.size(); ++d) spans.push_back(pool.windows().window(d, place.spatial[d]));
    const auto sum = writer.variable(writer.constant(type, 0.0));
    Values at;
    each(writer, spans, at, [&] { sum.set(sum.get() + pool.load(plane, at)); });
    writer.store(pool.to(), pool.position(), sum.get() / to(type, product_of(spans)));
  });
  return {};
}

Status mean_grad(Emitter& emit, const View& grad, const View& x, const MakeWindows& make) {
  if (x.num_elements() == 0) return {};
  PoolKernel pool(grad, x, make, false);
  auto& writer = pool.writer();
  const auto type = ir::compute_dtype(x.dtype);
  pool.launch(emit, [&](const Place& place, Value plane) {
    std::vector<Span> spans;
    for (std::size_t d = 0; d < place.spatial.size(); ++d)
      spans.push_back(pool.windows().outputs_of(d, place.spatial[d]));
    const auto sum = writer.variable(writer.constant(type, 0.0));
    Values at;
    each(writer, spans, at, [&] {
      std::vector<Span> windows;
      for (std::size_t d = 0; d < at.size(); ++d) windows.push_back(pool.windows().window(d, at[d]));
      sum.set(sum.get() + pool.load(plane, at) / to(type, product_of(windows)));
    });
    writer.store(pool.to(), pool.position(), sum.get());
  });
  return {};
}

// The first of equals; the first NaN before any number. Every window has an element of the input.
Status greatest(Emitter& emit, const View& x, const View& y, const View& positions, const MakeWindows& make) {
  if (y.num_elements() == 0) return {};
  PoolKernel pool(x, y, make, true);
  auto& writer = pool.writer();
  const auto found = pool.arguments().address(positions);
  const auto type = ir::compute_dtype(y.dtype);
  pool.launch(emit, [&](const Place& place, Value plane) {
    std::vector<Span> spans;
    for (std::size_t d = 0; d < place.spatial.size(); ++d) spans.push_back(pool.windows().window(d, place.spatial[d]));
    const auto best = writer.variable(writer.constant(type, std::int64_t{0}));
    const auto where = writer.variable(pool.arguments().constant(-1));
    Values at;
    each(writer, spans, at, [&] {
      const Value value = pool.load(plane, at), now = best.get();
      Value is_better = now < value;
      if (ir::is_floating(type)) is_better = !kernel::is_nan(now) && (is_better || kernel::is_nan(value));
      writer.when(where.get() < 0 || is_better, [&] {
        best.set(value);
        Value flat = at[0];
        for (std::size_t d = 1; d < at.size(); ++d) flat = flat * pool.windows().input()[d] + at[d];
        where.set(flat);
      });
    });
    writer.store(pool.to(), pool.position(), best.get());
    writer.store(found, pool.position(), to(ir::DType::i64, where.get()));
  });
  return {};
}

template <typename Op>
Status lower_mean(Emitter& emit, const Op& op, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0)), y = emit.result(at.result());
  return mean(emit, x, y, windows_of(op, x.shape, y.shape));
}

template <typename Op>
Status lower_mean_grad(Emitter& emit, const Op& op, const NodeInPlan& at) {
  const View grad = emit.read(at.operand(0)), x = emit.result(at.result());
  return mean_grad(emit, grad, x, windows_of(op, x.shape, grad.shape));
}

template <typename Op>
Status lower_max(Emitter& emit, const Op& op, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0)), y = emit.result(at.result(0)), positions = emit.result(at.result(1));
  return greatest(emit, x, y, positions, windows_of(op, x.shape, y.shape));
}

}  // namespace

Status lower(Emitter& emit, const ir::AvgPool& op, const NodeInPlan& at) { return lower_mean(emit, op, at); }
Status lower(Emitter& emit, const ir::AdaptiveAvgPool& op, const NodeInPlan& at) { return lower_mean(emit, op, at); }
Status lower(Emitter& emit, const ir::AvgPoolGrad& op, const NodeInPlan& at) { return lower_mean_grad(emit, op, at); }
Status lower(Emitter& emit, const ir::AdaptiveAvgPoolGrad& op, const NodeInPlan& at) {
  return lower_mean_grad(emit, op, at);
}
Status lower(Emitter& emit, const ir::MaxPool& op, const NodeInPlan& at) { return lower_max(emit, op, at); }
Status lower(Emitter& emit, const ir::AdaptiveMaxPool& op, const NodeInPlan& at) { return lower_max(emit, op, at); }

}  // namespace burn::compile::kernels
