// Factorisations: where signs are free, what they multiply to is compared.
#include <cmath>
#include <limits>

#include "tests/ops/sample_builder.h"

namespace burn::testing {
namespace {

using ir::DType;
using ir::Ref;

constexpr DType kReal[] = {DType::f64, DType::f32};
constexpr double kSlack = 200;  // elimination cancels: its results are smaller than its terms

std::string title(const ir::TensorType& type, std::string_view what, View view = View::plain) {
  return to_string(type) + " " + std::string(what) + " " + std::string(name(view));
}

ir::Dims swapped(int rank) {
  ir::Dims axes;
  for (int i = 0; i < rank; ++i) axes.push_back(i);
  std::swap(axes[rank - 1], axes[rank - 2]);
  return axes;
}

Ref transposed(SampleBuilder& sample, Ref x) {
  return sample.add(ir::Permute{swapped(sample.type_of(x).shape.rank())}, {x});
}

Ref times(SampleBuilder& sample, Ref a, Ref b) { return sample.add(ir::MatMul{}, {a, b}); }

// x + size I
Ref plus_identity(SampleBuilder& sample, Ref x, double size) {
  const auto type = sample.type_of(x);
  reference::Tensor identity(type);
  const auto n = static_cast<std::size_t>(type.shape.back());
  for (std::size_t i = 0; i < identity.size(); ++i) identity.set(i, i % n == i / n % n ? size : 0.0);
  return sample.add(ir::Pointwise{ir::PointwiseFn::add}, {x, sample.input(std::move(identity))});
}

Ref positive_definite(SampleBuilder& sample, Ref x) {
  return plus_identity(sample, times(sample, x, transposed(sample, x)), 4);
}

// a diag(s)
Ref scaled_columns(SampleBuilder& sample, Ref a, Ref s) {
  const auto type = sample.type_of(a);
  ir::Shape line = type.shape;
  line[line.rank() - 2] = 1;
  return sample.add(ir::Pointwise{ir::PointwiseFn::mul},
                    {a, sample.add(ir::Expand{type.shape}, {sample.add(ir::Reshape{line}, {s})})});
}

// [batch..., n, m]
ir::Shape shape_of(std::initializer_list<std::int64_t> batch, std::int64_t n, std::int64_t m) {
  ir::Shape shape;
  for (const auto size : batch) shape.push_back(size);
  shape.push_back(n);
  shape.push_back(m);
  return shape;
}

// Calls add(type, view) for batches, views and empty matrices; sides (n, m).
template <typename Add>
void for_shapes(std::int64_t n, std::int64_t m, bool repeats, const Add& add) {
  for (const auto dtype : kReal) {
    add(ir::TensorType{dtype, shape_of({}, n, m)}, View::plain);
    add(ir::TensorType{dtype, shape_of({2, 1, 3}, n, m)}, View::plain);
    for (const auto view : {View::transposed, View::strided, View::reversed})
      add(ir::TensorType{dtype, shape_of({3}, n, m)}, view);
    if (repeats) add(ir::TensorType{dtype, shape_of({3, 2, 1, 1}, n, m)}, View::expanded);
  }
}

template <typename Add>
void for_empty(std::initializer_list<ir::Shape> shapes, const Add& add) {
  for (const auto& shape : shapes) add(ir::TensorType{DType::f32, shape}, View::plain);
}

std::vector<Sample> cholesky_samples() {
  std::vector<Sample> all;
  const auto add = [&](const ir::TensorType& type, View view) {
    SampleBuilder sample(title(type, "cholesky", view));
    const auto x = positive_definite(sample, sample.view(type, view));
    all.push_back(sample.finish({sample.add(ir::Cholesky{}, {x})}, kSlack));
  };
  for_shapes(4, 4, true, add);
  for_shapes(1, 1, true, add);
  for_shapes(33, 33, false, add);
  for_empty({{0, 0}, {0, 3, 3}}, add);
  {  // only the lower triangle is read
    SampleBuilder sample("the other triangle is anything");
    reference::Tensor x({DType::f32, {2, 2}});
    const double values[] = {4, std::numeric_limits<double>::quiet_NaN(), 2, 5};
    for (std::size_t i = 0; i < 4; ++i) x.set(i, values[i]);
    all.push_back(sample.finish({sample.add(ir::Cholesky{}, {sample.input(x)})}));
  }
  return all;
}

std::vector<Sample> lu_samples() {
  std::vector<Sample> all;
  const auto add = [&](const ir::TensorType& type, View view) {
    SampleBuilder sample(title(type, "lu", view));
    const auto y = sample.add(ir::Lu{}, {sample.view(type, view)});
    all.push_back(sample.finish({y, y.result(1), y.result(2)}, kSlack));
  };
  for_shapes(4, 4, true, add);
  for_shapes(3, 5, true, add);
  for_shapes(5, 3, true, add);
  for_shapes(1, 1, true, add);
  for_shapes(20, 20, false, add);
  for_empty({{0, 0}, {0, 3}, {3, 0}, {0, 3, 3}}, add);
  return all;
}

std::vector<Sample> qr_samples() {
  std::vector<Sample> all;
  const auto add = [&](const ir::TensorType& type, View view) {
    for (const bool reduced : {true, false}) {
      const int last = type.shape.rank() - 1;
      if (!reduced && type.shape[last - 1] > type.shape[last]) continue;  // the last columns of Q may be any
      SampleBuilder sample(title(type, reduced ? "reduced qr" : "qr", view));
      const auto y = sample.add(ir::Qr{reduced}, {sample.view(type, view)});
      all.push_back(sample.finish({y, y.result(1)}, kSlack));
    }
  };
  for_shapes(4, 4, false, add);
  for_shapes(3, 5, false, add);
  for_shapes(5, 3, false, add);
  for_shapes(1, 1, false, add);
  for_shapes(24, 17, false, add);
  for_empty({{0, 0}, {0, 3}, {3, 0}, {0, 3, 3}}, add);
  // The whole Q of a tall matrix: tests that it is orthogonal, and its product with R.
  SampleBuilder sample("tall");
  const auto q = sample.add(ir::Qr{false}, {sample.input({DType::f32, {2, 5, 3}})});
  all.push_back(
      sample.finish({times(sample, q, q.result(1)), times(sample, transposed(sample, q), q), q.result(1)}, kSlack));
  return all;
}

std::vector<Sample> svd_samples() {
  std::vector<Sample> all;
  const auto finish = [&](SampleBuilder& sample, Ref x) {
    const auto u = sample.add(ir::Svd{}, {x});
    const auto s = u.result(1), vt = u.result(2);
    all.push_back(sample.finish({s, times(sample, scaled_columns(sample, u, s), vt),
                                 times(sample, transposed(sample, u), u), times(sample, vt, transposed(sample, vt))},
                                kSlack));
  };
  const auto add = [&](const ir::TensorType& type, View view) {
    SampleBuilder sample(title(type, "svd", view));
    finish(sample, sample.view(type, view));
  };
  for_shapes(4, 4, false, add);
  for_shapes(3, 5, false, add);
  for_shapes(5, 3, false, add);
  for_shapes(1, 1, false, add);
  for_shapes(12, 20, false, add);
  for_empty({{0, 3}, {3, 0}, {0, 3, 3}}, add);
  SampleBuilder sample("nan in one of two");
  reference::Tensor x({DType::f64, {2, 2, 2}});
  const double values[] = {1, std::numeric_limits<double>::quiet_NaN(), 2, 3, 1, 2, 3, 5};
  for (std::size_t i = 0; i < x.size(); ++i) x.set(i, values[i]);
  finish(sample, sample.input(x));
  return all;
}

std::vector<Sample> eigh_samples() {
  std::vector<Sample> all;
  const auto add = [&](const ir::TensorType& type, View view) {
    SampleBuilder sample(title(type, "eigh", view));
    const auto values = sample.add(ir::Eigh{}, {sample.view(type, view)});  // its lower triangle
    const auto v = values.result(1);
    all.push_back(sample.finish({values, times(sample, scaled_columns(sample, v, values), transposed(sample, v)),
                                 times(sample, transposed(sample, v), v)},
                                kSlack, 10));
  };
  for_shapes(4, 4, true, add);
  for_shapes(1, 1, true, add);
  for_shapes(15, 15, false, add);
  for_empty({{0, 0}, {0, 3, 3}}, add);
  return all;
}

std::vector<Sample> solve_samples(bool triangular, bool lower, bool unit) {
  std::vector<Sample> all;
  for (const std::int64_t columns : {1, 3}) {
    const auto add = [&](const ir::TensorType& type, View view) {
      SampleBuilder sample(title(type, lower ? "lower" : "upper", view) + (unit ? " unit " : " ") +
                           std::to_string(columns));
      ir::TensorType sides = type;
      sides.shape[type.shape.rank() - 1] = columns;
      Ref a = plus_identity(sample, sample.view(type, view), 9);
      if (view == View::transposed) a = transposed(sample, a);
      if (unit)  // with ones on the diagonal, the size of the other elements decides how fast results grow
        a = sample.add(ir::Pointwise{ir::PointwiseFn::mul}, {a, sample.scalar(type.dtype, 0.25)});
      const auto b = sample.view(sides, view);
      const ir::Op op = triangular ? ir::Op(ir::SolveTriangular{lower, unit}) : ir::Op(ir::Solve{});
      all.push_back(sample.finish({sample.add(op, {a, b})}, kSlack));
    };
    for_shapes(4, 4, true, add);
    for_shapes(1, 1, true, add);
    if (!unit) for_shapes(20, 20, false, add);
    for_empty({{0, 0}, {0, 3, 3}}, add);
  }
  SampleBuilder sample("no right-hand sides");
  const auto a = plus_identity(sample, sample.input({DType::f32, {3, 3}}), 9), b = sample.input({DType::f32, {3, 0}});
  const ir::Op op = triangular ? ir::Op(ir::SolveTriangular{lower, unit}) : ir::Op(ir::Solve{});
  all.push_back(sample.finish({sample.add(op, {a, b})}));
  return all;
}

std::vector<Sample> det_samples() {
  std::vector<Sample> all;
  const auto add = [&](const ir::TensorType& type, View view) {
    SampleBuilder sample(title(type, "det", view));
    all.push_back(sample.finish({sample.add(ir::Det{}, {sample.view(type, view)})}, kSlack));
  };
  for_shapes(4, 4, true, add);
  for_shapes(3, 3, true, add);
  for_shapes(1, 1, true, add);
  for_empty({{0, 0}, {2, 0, 0}, {0, 3, 3}}, add);
  return all;
}

}  // namespace

std::vector<Sample> linalg_samples(std::string_view op) {
  if (op == ir::Cholesky::kName) return cholesky_samples();
  if (op == ir::Lu::kName) return lu_samples();
  if (op == ir::Qr::kName) return qr_samples();
  if (op == ir::Svd::kName) return svd_samples();
  if (op == ir::Eigh::kName) return eigh_samples();
  if (op == ir::Solve::kName) return solve_samples(false, false, false);
  if (op == ir::Det::kName) return det_samples();
  std::vector<Sample> all;
  if (op != ir::SolveTriangular::kName) return all;
  for (const bool lower : {true, false}) {
    for (const bool unit : {true, false}) {
      for (auto& sample : solve_samples(true, lower, unit)) all.push_back(std::move(sample));
    }
  }
  return all;
}

}  // namespace burn::testing
