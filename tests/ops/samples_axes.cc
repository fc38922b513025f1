#include <functional>

#include "ir/enums.h"
#include "tests/ops/sample_builder.h"

namespace burn::testing {
namespace {

using ir::DType;
using ir::ReduceFn;

constexpr ReduceFn kReduceFns[] = {ReduceFn::sum, ReduceFn::prod, ReduceFn::max, ReduceFn::min};

std::string title(DType dtype, std::string_view what, std::string_view how = {}) {
  return std::string(ir::name(dtype)) + " " + std::string(what) + " " + std::string(how);
}

bool takes(ReduceFn fn, DType dtype) { return !ir::is_bool(dtype) || fn == ReduceFn::max || fn == ReduceFn::min; }

// Sums of many rounded numbers may be off by more than one rounding.
constexpr double kSumSlack = 4;
constexpr double kProducts = 10;  // of two numbers up to 3

std::vector<Sample> reduce_samples() {
  std::vector<Sample> all;
  const auto add = [&](ReduceFn fn, const ir::TensorType& type, const ir::Dims& axes, View view, Values values) {
    SampleBuilder sample(
        title(type.dtype, ir::name(fn), to_string(type.shape) + to_string(axes) + std::string(name(view))));
    const auto x = sample.view(type, view, values);
    all.push_back(sample.finish({sample.add(ir::Reduce{fn, axes}, {x})}, kSumSlack));
  };
  for (const auto fn : kReduceFns) {
    for (const auto dtype : dtypes()) {
      if (!takes(fn, dtype)) continue;
      add(fn, {dtype, {}}, {}, View::plain, Values::ordinary);
      add(fn, {dtype, {3, 5}}, {}, View::plain, Values::ordinary);
      for (const auto view : kViews) {
        for (const auto& axes : {ir::Dims{0}, ir::Dims{2}, ir::Dims{1}, ir::Dims{0, 2}, ir::Dims{0, 1, 2}}) {
          add(fn, {dtype, {3, 4, 5}}, axes, view, Values::positive);
        }
      }
      if (fn == ReduceFn::prod) continue;  // whether one of edges overflows depends on the order
      add(fn, {dtype, {6, 130}}, {1}, View::plain, Values::special);
      add(fn, {dtype, {6, 130}}, {0}, View::plain, Values::special);
    }
    add(fn, {DType::f32, {1, 7, 1, 9}}, {0, 1, 2}, View::plain, Values::ordinary);
  }
  // Empty: sums are 0, products 1, any is false, all is true.
  for (const auto& shape : {ir::Shape{0, 4}, ir::Shape{4, 0}}) {
    add(ReduceFn::sum, {DType::f32, shape}, {0}, View::plain, Values::ordinary);
    add(ReduceFn::prod, {DType::i32, shape}, {0, 1}, View::plain, Values::ordinary);
    add(ReduceFn::max, {DType::bool_, shape}, {1}, View::plain, Values::ordinary);
    add(ReduceFn::min, {DType::bool_, shape}, {1}, View::plain, Values::ordinary);
  }
  // Large: runs, rows, and few outputs of many elements.
  for (const auto dtype : {DType::f32, DType::f16, DType::i64}) {
    add(ReduceFn::sum, {dtype, {150001}}, {0}, View::plain, Values::positive);
    add(ReduceFn::sum, {dtype, {1200, 300}}, {0}, View::plain, Values::positive);
    add(ReduceFn::sum, {dtype, {300, 1200}}, {1}, View::plain, Values::positive);
    add(ReduceFn::max, {dtype, {64, 3, 1000}}, {0, 2}, View::plain, Values::ordinary);
    add(ReduceFn::sum, {dtype, {64, 16, 24, 24}}, {0, 2, 3}, View::plain, Values::positive);
    add(ReduceFn::min, {dtype, {600, 700}}, {1}, View::transposed, Values::ordinary);
  }
  return all;
}

std::vector<Sample> line_samples(const std::function<ir::Op(std::int64_t axis, int variant)>& op, int variants,
                                 const std::function<bool(int, DType)>& takes, bool allows_empty, double slack) {
  std::vector<Sample> all;
  for (int variant = 0; variant < variants; ++variant) {
    const auto add = [&](const ir::TensorType& type, std::int64_t axis, View view, Values values) {
      SampleBuilder sample(
          title(type.dtype, to_string(op(axis, variant)), to_string(type.shape) + std::string(name(view))));
      const auto x = sample.view(type, view, values);
      const auto first = sample.add(op(axis, variant), {x});
      std::vector<ir::Ref> results;
      for (int k = 0; k < ir::result_count(op(axis, variant)); ++k) results.push_back(first.result(k));
      all.push_back(sample.finish(std::move(results), slack));
    };
    for (const auto dtype : dtypes()) {
      if (!takes(variant, dtype)) continue;
      for (const auto axis : {0, 1, 2}) add({dtype, {3, 7, 5}}, axis, View::plain, Values::ordinary);
      add({dtype, {9, 40}}, 1, View::transposed, Values::special);
      add({dtype, {9, 40}}, 1, View::expanded, Values::ordinary);
      add({dtype, {9, 40}}, 0, View::reversed, Values::special);
      add({dtype, {1}}, 0, View::plain, Values::special);
      add({dtype, {0, 4}}, 1, View::plain, Values::ordinary);
      if (allows_empty) add({dtype, {0, 4}}, 0, View::plain, Values::ordinary);
    }
    if (takes(variant, DType::f32)) {
      add({DType::f32, {300, 400}}, 0, View::plain, Values::positive);
      add({DType::f32, {300, 400}}, 1, View::plain, Values::ordinary);
    }
  }
  return all;
}

// Lines that are long enough for other ways than short ones.
template <typename Op>
void add_long_lines(std::vector<Sample>& all, std::span<const DType> types, std::span<const ir::Shape> shapes,
                    const Op& op, Values values, double slack) {
  for (const auto dtype : types) {
    for (const auto& shape : shapes) {
      SampleBuilder sample(title(dtype, to_string(ir::Op{op}), "long " + to_string(shape)));
      const auto first = sample.add(op, {sample.input({dtype, shape}, values)});
      std::vector<ir::Ref> results;
      for (int k = 0; k < ir::result_count(ir::Op{op}); ++k) results.push_back(first.result(k));
      all.push_back(sample.finish(std::move(results), slack));
    }
  }
}

std::vector<Sample> top_k_samples() {
  std::vector<Sample> all;
  const auto add = [&](const ir::TensorType& type, const ir::TopK& op, View view, Values values) {
    SampleBuilder sample(title(type.dtype, to_string(ir::Op{op}), to_string(type.shape) + std::string(name(view))));
    const auto first = sample.add(op, {sample.view(type, view, values)});
    all.push_back(sample.finish({first, first.result(1)}));
  };
  for (const auto dtype : dtypes()) {
    for (const bool largest : {false, true}) {
      for (const std::int64_t k : {0, 1, 3})
        add({dtype, {3, 7, 5}}, {k % 3, k, largest}, View::plain, Values::ordinary);
      add({dtype, {9, 40}}, {1, 12, largest}, View::transposed, Values::special);
      add({dtype, {9, 40}}, {0, 9, largest}, View::reversed, Values::special);
      add({dtype, {0, 4}}, {1, 2, largest}, View::plain, Values::ordinary);
    }
  }
  add({DType::f32, {300, 400}}, {0, 20, true}, View::plain, Values::positive);
  // A few of many elements, many of them equal; and so many that all are sorted.
  for (const auto dtype : dtypes()) {
    for (const std::int64_t k : {1, 5, 40, 300})
      add({dtype, {3, 700}}, {1, k, k != 5}, View::plain, k == 40 ? Values::ordinary : Values::special);
    add({dtype, {600, 3}}, {0, 7, true}, View::strided, Values::special);
  }
  return all;
}

std::vector<Sample> matmul_samples() {
  std::vector<Sample> all;
  const auto add = [&](DType dtype, const ir::Shape& a, const ir::Shape& b, View view_a, View view_b) {
    SampleBuilder sample(
        title(dtype, to_string(a) + to_string(b), std::string(name(view_a)) + std::string(name(view_b))));
    const auto x = sample.view({dtype, a}, view_a), y = sample.view({dtype, b}, view_b);
    all.push_back(sample.finish({sample.add(ir::MatMul{}, {x, y})}, kSumSlack, kProducts));
  };
  for (const auto dtype : numbers()) {
    add(dtype, {3, 4}, {4, 5}, View::plain, View::plain);
    add(dtype, {1, 4}, {4, 1}, View::plain, View::transposed);
    add(dtype, {2, 3, 4}, {2, 4, 5}, View::plain, View::plain);
    add(dtype, {3, 0}, {0, 5}, View::plain, View::plain);
    add(dtype, {0, 3}, {3, 5}, View::plain, View::plain);
    add(dtype, {0, 3, 2}, {0, 2, 5}, View::plain, View::plain);
    add(dtype, {70, 65}, {65, 90}, View::transposed, View::plain);
  }
  for (const auto a : kViews) {
    for (const auto b : kViews) {
      add(DType::f32, {6, 7}, {7, 5}, a, b);
      add(DType::f64, {3, 2, 6, 7}, {3, 2, 7, 5}, a, b);
      add(DType::f32, {130, 70}, {70, 90}, a, b);
    }
  }
  // One matrix for a whole batch, a transposed batch, and a batch of more matrices than threads.
  for (const bool transposed : {false, true}) {
    SampleBuilder sample(transposed ? "shared rhs, transposed" : "shared rhs");
    const auto x = sample.input({DType::f32, {4, 9, 8}});
    auto w = sample.view({DType::f32, {8, 6}}, transposed ? View::transposed : View::plain);
    w = sample.add(ir::Expand{{4, 8, 6}}, {w});
    const auto back = sample.add(ir::Permute{{0, 2, 1}}, {x});  // [4, 8, 9]
    const auto product = sample.add(ir::MatMul{}, {x, w});
    all.push_back(sample.finish({product, sample.add(ir::MatMul{}, {back, product})}, kSumSlack, 10 * kProducts));
  }
  add(DType::f32, {100, 17, 18}, {100, 18, 19}, View::plain, View::plain);
  // A bias and the sums that are its gradient, which a library may compute in the same call. Sums of both operands, as
  // either may be the gradient of the result.
  for (const auto dtype : kFloats) {
    for (const ir::Shape& shape : {ir::Shape{48, 32}, ir::Shape{33, 7}, ir::Shape{1, 16}}) {
      SampleBuilder sample(title(dtype, "with a bias", to_string(shape)));
      const auto x = sample.input({dtype, {shape[0], 24}}), w = sample.input({dtype, {24, shape[1]}});
      const auto bias =
          sample.add(ir::Expand{shape}, {sample.add(ir::Reshape{{1, shape[1]}}, {sample.input({dtype, {shape[1]}})})});
      const auto sum = sample.add(ir::Pointwise{ir::PointwiseFn::add}, {sample.add(ir::MatMul{}, {x, w}), bias});
      all.push_back(sample.finish({sum}, kSumSlack, kProducts));
    }
    for (const bool first : {false, true}) {
      SampleBuilder sample(title(dtype, "with sums of an operand", first ? "the first" : "the second"));
      const auto x = sample.input({dtype, {64, 24}}), grad = sample.input({dtype, {64, 40}});
      const auto sums = sample.add(ir::Reduce{ir::ReduceFn::sum, {0}}, {grad});
      const auto across = sample.add(ir::Permute{{1, 0}}, {first ? grad : x});
      const auto product = sample.add(ir::MatMul{}, {across, first ? x : grad});
      all.push_back(sample.finish({product, sums}, kSumSlack, kProducts));
    }
  }
  return all;
}

}  // namespace

std::vector<Sample> axis_samples(std::string_view op) {
  const auto any = [](int, DType) { return true; };
  const auto no_bool = [](int, DType dtype) { return !ir::is_bool(dtype); };
  if (op == "reduce") return reduce_samples();
  if (op == "top_k") return top_k_samples();
  if (op == "matmul") return matmul_samples();
  if (op == "arg_reduce") {
    return line_samples(
        [](auto axis, int v) {
          return ir::ArgReduce{v == 0 ? ir::ArgFn::max : ir::ArgFn::min, axis};
        },
        2, no_bool, false, 1);
  }
  if (op == "scan") {
    auto all = line_samples(
        [](auto axis, int v) {
          return ir::Scan{kReduceFns[v], axis};
        },
        4, [](int v, DType dtype) { return takes(kReduceFns[v], dtype); }, true, kSumSlack);
    const DType types[] = {DType::f32, DType::f64, DType::i32};
    const ir::Shape shapes[] = {{40000}, {2, 33000}, {5, 1003}};  // in blocks with a rest, in blocks, in one
    add_long_lines(all, types, shapes, ir::Scan{ReduceFn::max, 0}, Values::ordinary, kSumSlack);
    for (const auto& shape : shapes)
      add_long_lines(all, types, std::span(&shape, 1), ir::Scan{ReduceFn::sum, shape.rank() - 1}, Values::positive,
                     kSumSlack);
    return all;
  }
  if (op == "sort") {
    auto all = line_samples([](auto axis, int v) { return ir::Sort{axis, v == 1}; }, 2, any, true, 1);
    const ir::Shape shapes[] = {{3, 500}, {2, 1300}};
    for (const bool descending : {false, true})
      add_long_lines(all, dtypes(), shapes, ir::Sort{1, descending}, Values::special, 1);
    return all;
  }
  return {};
}

}  // namespace burn::testing
