// Interpolation over one or two spatial dims (ir/semantics/interpolation.h): a thread for each result, which visits the
// elements that it is made of, or, of gradients, the results that an element is part of.
#include <functional>
#include <numbers>

#include "compile/codegen/kernel/functions.h"
#include "compile/codegen/kernels/lines.h"
#include "compile/codegen/kernels/lower.h"
#include "compile/codegen/kernels/tile.h"
#include "ir/semantics/interpolation.h"

namespace burn::compile::kernels {
namespace {

using ir::InterpolateMode;
using kernel::Value;

// An element of a line and its weight. `is_there`: whether it counts; without an id: always.
struct Tap {
  Value index, weight, is_there;
};

// Along one dim: a line of `input` elements that becomes one of `output`, as ir::LineInterpolation. Where an output
// lies is a fraction of whole numbers, (2 o + 1) input / (2 output) - 1/2 or o (input - 1) / (output - 1), whose whole
// part and rest come from one division of whole numbers.
class Line {
 public:
  Line(Arguments& arguments, const ir::LineInterpolation& line, ir::DType type)
      : line_(line), type_(type), input_(arguments.number(line.input)), output_(arguments.number(line.output)) {}

  Value input() const { return input_; }
  Value output() const { return output_; }

  std::vector<Tap> taps(Value o) const {
    const Value last = input_ - 1, zero = o.number(0);
    const auto clamped = [&](Value i) { return select(i < zero, zero, least(i, last)); };
    const Value one = number(o, 1);
    if (line_.is_nearest() || line_.input == line_.output) {
      const Value at =
          line_.mode == InterpolateMode::nearest ? o * input_ / output_ : (o * 2 + 1) * input_ / (output_ * 2);
      return {{clamped(at), one, {}}};
    }
    Value above = line_.align_corners ? o * last : (o * 2 + 1) * input_ - output_;
    const Value below = line_.align_corners ? select(output_ > 1, output_ - 1, one_like(o)) : output_ * 2;
    if (line_.mode == InterpolateMode::bilinear) above = select(above < zero, zero, above);
    const Value first = select(above < zero, zero - 1, above / below);
    const Value rest = to(type_, above - first * below) / to(type_, below);
    if (line_.mode == InterpolateMode::bilinear)
      return {{clamped(first), one - rest, {}}, {clamped(first + 1), rest, {}}};
    if (line_.mode == InterpolateMode::bicubic) {
      return {{clamped(first - 1), far(rest + 1.0), {}},
              {clamped(first), near(rest), {}},
              {clamped(first + 1), near(one - rest), {}},
              {clamped(first + 2), far(number(o, 2) - rest), {}}};
    }
    return lanczos(first, rest, clamped);
  }

  // Outputs [begin, end) that include all which have element `i` among their taps.
  std::pair<Value, Value> outputs_near(Value i) const {
    const Value zero = i.number(0);
    const bool is_by_corners = line_.align_corners && !line_.is_nearest();
    if (line_.step() <= 0) return {zero, output_};
    const Value above = is_by_corners ? output_ - 1 : output_, below = is_by_corners ? input_ - 1 : input_;
    const int reach = line_.mode == InterpolateMode::bicubic ? 3 : line_.mode == InterpolateMode::lanczos3 ? 4 : 2;
    const Value low = (i - reach) * above / below - 2, high = (i + reach) * above / below + 4;
    return {select(low < zero, zero, low), least(high, output_)};
  }

 private:
  Value number(Value of, double x) const { return of.writer->constant(type_, x); }
  static Value one_like(Value of) { return of.number(1); }

  // Keys' cubic convolution kernel at distance up to 1, and from 1 to 2.
  static Value near(Value x) { return (x * 1.25 - 2.25) * x * x + 1.0; }
  static Value far(Value x) { return ((x * -0.75 + 3.75) * x - 6.0) * x + 3.0; }

  template <typename Clamp>
  std::vector<Tap> lanczos(Value first, Value rest, const Clamp& clamped) const {
    std::vector<Tap> taps;
    Value sum = number(rest, 0);
    const Value zero = sum;
    for (int k = 0; k < 6; ++k) {
      const Value i = first + (k - 2);
      const Value is_there = i >= i.number(0) && i < input_;
      const Value x = rest + static_cast<double>(2 - k);  // at a distance below 3
      const Value angle = x * std::numbers::pi;
      const Value wave = kernel::sin(angle) * kernel::sin(angle / 3.0) * 3.0 / (angle * angle);
      const Value weight = select(is_there, select(x == zero, number(rest, 1), wave), zero);
      sum = sum + weight;
      taps.push_back({clamped(i), weight, is_there});
    }
    for (auto& tap : taps) tap.weight = tap.weight / sum;
    return taps;
  }

  const ir::LineInterpolation line_;
  const ir::DType type_;
  Value input_, output_;
};

// Lines of a tensor [n, c, spatial...]: one for each spatial dim.
template <typename Op>
std::vector<Line> lines_of(Arguments& arguments, const Op& op, const ir::Shape& input, const ir::Shape& output,
                           ir::DType type) {
  std::vector<Line> lines;
  for (int d = 2; d < input.rank(); ++d) {
    ir::LineInterpolation line;
    line.mode = op.mode;
    line.align_corners = op.align_corners;
    line.input = input[d];
    line.output = output[d];
    lines.emplace_back(arguments, line, type);
  }
  return lines;
}

std::int64_t largest(const View& x, const View& y) {
  std::int64_t most = std::max(x.num_elements(), y.num_elements());
  for (int d = 2; d < x.rank(); ++d) {
    const auto side = 2 * std::max(x.shape[d], y.shape[d]) + 8;
    most = std::max(most, side * side);
  }
  return most;
}

// A thread's result: its place, and where the plane of the operand begins.
struct Place {
  Value plane;
  std::vector<Value> at;
};

Place place_of(Value position, Value channels, const std::vector<Value>& sizes, const std::vector<Value>& strides) {
  Place place;
  place.at.resize(sizes.size());
  for (std::size_t d = sizes.size(); d-- > 0;) {
    const Value rest = position / sizes[d];
    place.at[d] = position - rest * sizes[d];
    position = rest;
  }
  const Value n = position / channels;
  place.plane = n * strides[0] + (position - n * channels) * strides[1];
  return place;
}

// The weighted sum over the taps of dims from `d` on. Elements that do not count are not multiplied: they may be
// infinite.
Value sum_of_taps(kernel::Writer& writer, kernel::Memory from, const std::vector<std::vector<Tap>>& taps,
                  const std::vector<Value>& strides, std::size_t d, Value at, ir::DType type) {
  if (d == taps.size()) return writer.load(from, at);
  Value sum = writer.constant(type, 0.0);
  for (const auto& tap : taps[d]) {
    const Value part =
        tap.weight * sum_of_taps(writer, from, taps, strides, d + 1, at + tap.index * strides[d + 2], type);
    sum = sum + (tap.is_there.id < 0 ? part : select(tap.is_there, part, sum.number(0.0)));
  }
  return sum;
}

}  // namespace

Status lower(Emitter& emit, const ir::Interpolate& op, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0)), y = emit.result(at.result());
  if (y.num_elements() == 0) return {};
  const auto type = ir::compute_dtype(y.dtype);
  kernel::Writer writer(256);
  Arguments arguments(writer, index_of<2>({&x, &y}, largest(x, y)));
  const auto from = arguments.address(x), into = arguments.address(y);
  const auto strides = arguments.numbers({x.strides.begin(), x.strides.end()});
  const Value channels = arguments.number(y.shape[1]);
  const auto lines = lines_of(arguments, op, x.shape, y.shape, type);
  const Value position = arguments.position();
  writer.when(position < arguments.number(y.num_elements()), [&] {
    std::vector<Value> sizes;
    sizes.reserve(lines.size());
    for (const auto& line : lines) sizes.push_back(line.output());
    const auto place = place_of(position, channels, sizes, strides);
    std::vector<std::vector<Tap>> taps;
    for (std::size_t d = 0; d < lines.size(); ++d) taps.push_back(lines[d].taps(place.at[d]));
    writer.store(into, position, sum_of_taps(writer, from, taps, strides, 0, place.plane, type));
  });
  arguments.launch(emit, y.num_elements());
  return {};
}

Status lower(Emitter& emit, const ir::InterpolateGrad& op, const NodeInPlan& at) {
  const View grad = emit.read(at.operand(0)), x = emit.result(at.result());
  if (x.num_elements() == 0) return {};
  const auto type = ir::compute_dtype(x.dtype);
  kernel::Writer writer(256);
  Arguments arguments(writer, index_of<2>({&x, &grad}, largest(x, grad)));
  const auto from = arguments.address(grad), into = arguments.address(x);
  const auto strides = arguments.numbers({grad.strides.begin(), grad.strides.end()});
  const Value channels = arguments.number(x.shape[1]);
  const auto lines = lines_of(arguments, op, x.shape, grad.shape, type);
  const Value position = arguments.position();
  writer.when(position < arguments.number(x.num_elements()), [&] {
    std::vector<Value> sizes;
    sizes.reserve(lines.size());
    for (const auto& line : lines) sizes.push_back(line.input());
    const auto place = place_of(position, channels, sizes, strides);
    const auto sum = writer.variable(writer.constant(type, 0.0));
    // Over the outputs near the element, dim by dim: what share each has in it.
    const std::function<void(std::size_t, Value, Value)> visit = [&](std::size_t d, Value offset, Value share) {
      if (d == lines.size()) {
        sum.set(sum.get() + share * writer.load(from, offset));
        return;
      }
      const auto [begin, end] = lines[d].outputs_near(place.at[d]);
      writer.loop(begin, end, arguments.constant(1), [&, d = d](Value o) {
        Value weight = writer.constant(type, 0.0), is_any = weight < weight;
        for (const auto& tap : lines[d].taps(o)) {
          Value is_it = tap.index == place.at[d];
          if (tap.is_there.id >= 0) is_it = is_it && tap.is_there;
          weight = weight + select(is_it, tap.weight, weight.number(0.0));
          is_any = is_any || is_it;
        }
        writer.when(is_any, [&] { visit(d + 1, offset + o * strides[d + 2], share * weight); });
      });
    };
    visit(0, place.plane, writer.constant(type, 1.0));
    writer.store(into, position, sum.get());
  });
  arguments.launch(emit, x.num_elements());
  return {};
}

}  // namespace burn::compile::kernels
