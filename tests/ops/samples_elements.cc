#include "ir/enums.h"
#include "tests/ops/sample_builder.h"

namespace burn::testing {
namespace {

using ir::DType;
using ir::PointwiseClass;

// The dtypes of the (last) operand.
std::vector<DType> operand_dtypes(PointwiseClass kind) {
  switch (kind) {
    case PointwiseClass::numeric:
      return numbers();
    case PointwiseClass::floating:
    case PointwiseClass::test:
      return {std::begin(kFloats), std::end(kFloats)};
    case PointwiseClass::integral:
      return {std::begin(kIntegers), std::end(kIntegers)};
    case PointwiseClass::logical:
      return {DType::bool_};
    case PointwiseClass::compare:
    case PointwiseClass::choose:
      return dtypes();
  }
  return {};
}

// The views of the operands in turn, so that contiguous, strided and repeated ones meet.
Sample viewed(ir::PointwiseFn fn, DType dtype, const ir::Shape& shape, std::initializer_list<View> views,
              Values values) {
  const auto& row = ir::row(fn);
  SampleBuilder sample(std::string(ir::name(dtype)) + to_string(shape) + std::string(name(*views.begin())));
  std::vector<ir::Ref> operands;
  for (int k = 0; k < row.arity; ++k) {
    const auto view = views.begin()[static_cast<std::size_t>(k) % views.size()];
    const auto type = row.kind == PointwiseClass::choose && k == 0 ? DType::bool_ : dtype;
    operands.push_back(sample.view({type, shape}, view, values));
  }
  const ir::Pointwise op{fn};
  switch (row.arity) {
    case 1:
      return sample.finish({sample.add(op, {operands[0]})});
    case 2:
      return sample.finish({sample.add(op, {operands[0], operands[1]})});
    default:
      return sample.finish({sample.add(op, {operands[0], operands[1], operands[2]})});
  }
}

// Rank 0 beside a shape, on either side.
std::vector<Sample> with_scalars(ir::PointwiseFn fn, DType dtype) {
  const auto& row = ir::row(fn);
  const ir::Pointwise op{fn};
  const ir::Shape shape{9, 11};
  std::vector<Sample> all;
  if (row.arity == 2) {
    for (const bool first : {true, false}) {
      SampleBuilder sample(std::string(ir::name(dtype)) + (first ? " scalar first" : " scalar last"));
      const auto x = sample.input({dtype, shape}, Values::special), s = sample.scalar(dtype, 2);
      all.push_back(sample.finish({first ? sample.add(op, {s, x}) : sample.add(op, {x, s})}));
    }
  } else if (row.arity == 3) {
    for (int which = 1; which <= 3; ++which) {
      SampleBuilder sample(std::string(ir::name(dtype)) + " scalar branch " + std::to_string(which));
      const auto c = sample.input({DType::bool_, shape}), x = sample.input({dtype, shape}, Values::special);
      const auto s = sample.scalar(dtype, 1), t = sample.scalar(dtype, 0);
      all.push_back(sample.finish({sample.add(op, {c, which == 1 ? x : s, which == 2 ? x : t})}));
    }
  }
  return all;
}

}  // namespace

std::vector<Sample> pointwise_samples(ir::PointwiseFn fn) {
  std::vector<Sample> all;
  for (const auto dtype : operand_dtypes(ir::row(fn).kind)) {
    const auto add = [&](const ir::Shape& shape, std::initializer_list<View> views, Values values) {
      all.push_back(viewed(fn, dtype, shape, views, values));
    };
    add({}, {View::plain}, Values::ordinary);
    add({0, 3}, {View::plain}, Values::ordinary);
    add({67}, {View::plain}, Values::ordinary);
    add({13, 37}, {View::plain}, Values::special);
    add({5, 6, 7}, {View::transposed}, Values::special);
    add({5, 6, 7}, {View::strided, View::plain, View::expanded}, Values::special);
    add({5, 6, 7}, {View::expanded, View::reversed, View::plain}, Values::special);
    add({4, 1, 5, 2}, {View::reversed, View::transposed}, Values::positive);
    for (auto& sample : with_scalars(fn, dtype)) all.push_back(std::move(sample));
  }
  // Enough for several threads.
  all.push_back(
      viewed(fn, operand_dtypes(ir::row(fn).kind).front(), {3, 40000}, {View::plain, View::expanded}, Values::special));
  return all;
}

std::vector<Sample> source_samples(std::string_view op) {
  std::vector<Sample> all;
  if (op == "constant") {
    for (const auto dtype : dtypes()) {
      SampleBuilder sample{std::string(ir::name(dtype))};
      const auto number =
          sample.add(ir::is_floating(dtype) ? ir::Constant{dtype, 0, 1.0 / 3} : ir::Constant{dtype, 1}, {});
      all.push_back(sample.finish({number, sample.add(ir::Expand{{2, 3}}, {number})}));
    }
  } else if (op == "scalar") {
    for (const auto dtype : dtypes()) {
      SampleBuilder sample{std::string(ir::name(dtype))};
      const auto a = sample.scalar(dtype, 1), b = sample.scalar(dtype, 0);
      all.push_back(sample.finish({b, a, sample.add(ir::Expand{{2, 3}}, {a}), sample.add(ir::Reshape{{1, 1}}, {b})}));
    }
  } else if (op == "commit") {
    SampleBuilder sample{"guards the sum of two, and by a conjunction"};
    const auto x = sample.input({DType::f32, {3, 5}}), old = sample.input({DType::f32, {3, 5}});
    const auto ok = sample.add(ir::Commit{}, {}), small = sample.scalar(DType::bool_, 0);
    const auto sum = sample.add(ir::Pointwise{ir::PointwiseFn::add}, {x, old});
    const auto both = sample.add(ir::Pointwise{ir::PointwiseFn::bool_and}, {ok, small});
    all.push_back(sample.finish({sample.add(ir::Pointwise{ir::PointwiseFn::select}, {ok, sum, old}),
                                 sample.add(ir::Pointwise{ir::PointwiseFn::select}, {both, sum, old}), ok}));
  } else if (op == "iota") {
    for (const auto dtype : numbers()) {
      for (const std::int64_t size : {0, 1, 300, 70000}) {
        SampleBuilder sample{std::string(ir::name(dtype)) + " " + std::to_string(size)};
        if (size == 70000 && dtype == DType::f16) continue;  // beyond its largest number
        all.push_back(sample.finish({sample.add(ir::Iota{dtype, size}, {})}));
      }
    }
  } else if (op == "random") {
    constexpr std::pair<ir::RandomFn, DType> kDraws[] = {{ir::RandomFn::uniform, DType::f32},
                                                         {ir::RandomFn::uniform, DType::f64},
                                                         {ir::RandomFn::normal, DType::f32},
                                                         {ir::RandomFn::normal, DType::f64},
                                                         {ir::RandomFn::bits, DType::u64}};
    for (const auto& [fn, dtype] : kDraws) {
      SampleBuilder sample{std::string(ir::name(dtype)) + " " + std::string(ir::name(fn))};
      all.push_back(sample.finish({sample.random(fn, dtype, {0}), sample.random(fn, dtype, {7}),
                                   sample.random(fn, dtype, {3, 64}), sample.random(fn, dtype, {130, 301})}));
      SampleBuilder boxes{std::string(ir::name(dtype)) + " boxes of " + std::string(ir::name(fn))};
      const auto box = [&](const ir::Shape& whole, const ir::Dims& starts, const ir::Shape& shape) {
        return boxes.random({.fn = fn, .dtype = dtype, .shape = shape, .whole = whole, .starts = starts});
      };
      all.push_back(boxes.finish({box({130, 301}, {33, 0}, {64, 301}), box({130, 301}, {0, 77}, {130, 101}),
                                  box({5, 6, 7}, {1, 2, 3}, {3, 2, 4}), box({5, 6, 7}, {2, 3, 0}, {1, 2, 7}),
                                  box({9}, {9}, {0}), box({5000}, {1234}, {2345}), box({4, 3}, {3, 2}, {1, 1})}));
    }
  } else if (op == "cast") {
    for (const auto from : dtypes()) {
      for (const auto to : dtypes()) {
        for (const auto view : {View::plain, View::transposed, View::expanded}) {
          SampleBuilder sample{std::string(ir::name(from)) + " to " + std::string(ir::name(to)) +
                               std::string(name(view))};
          const auto x = sample.view({from, {7, 31}}, view, Values::special);
          all.push_back(sample.finish({sample.add(ir::Cast{to}, {x})}));
        }
      }
    }
  }
  return all;
}

}  // namespace burn::testing
