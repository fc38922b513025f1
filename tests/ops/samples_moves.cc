#include "ir/enums.h"
#include "tests/ops/sample_builder.h"

namespace burn::testing {
namespace {

using ir::Dims;
using ir::DType;
using ir::Shape;

std::string title(DType dtype, const auto&... parts) {
  return (std::string(ir::name(dtype)) + ... + (" " + std::string(parts)));
}

// One op on one operand of each dtype and view.
std::vector<Sample> unary(const Shape& shape, const std::vector<ir::Op>& ops) {
  std::vector<Sample> all;
  for (const auto dtype : dtypes()) {
    for (const auto view : kViews) {
      SampleBuilder sample(title(dtype, to_string(ops.front()), name(view)));
      const auto x = sample.view({dtype, shape}, view, Values::special);
      std::vector<ir::Ref> outputs;
      for (const auto& op : ops) outputs.push_back(sample.add(op, {x}));
      all.push_back(sample.finish(outputs));
    }
  }
  return all;
}

std::vector<Sample> with_one_more(std::vector<Sample> all, const ir::TensorType& type, const ir::Op& op) {
  SampleBuilder sample(to_string(type));
  const auto x = sample.input(type);
  all.push_back(sample.finish({sample.add(op, {x})}));
  return all;
}

std::vector<Sample> slice_assign_samples() {
  std::vector<Sample> all;
  for (const auto dtype : dtypes()) {
    for (const auto view : kViews) {
      SampleBuilder sample(title(dtype, name(view)));
      const auto x = sample.view({dtype, {6, 7}}, view), values = sample.view({dtype, {2, 3}}, view);
      const auto once = sample.add(ir::SliceAssign{{1, 5}, {2, -2}}, {x, values});
      const auto twice = sample.add(ir::SliceAssign{{0, 0}, {1, 1}}, {once, values});
      all.push_back(sample.finish({twice, sample.add(ir::SliceAssign{{5, 6}, {-1, -1}}, {x, x})}));
    }
  }
  SampleBuilder empty("empty part");
  const auto x = empty.input({DType::f32, {3}}), nothing = empty.input({DType::f32, {0}});
  all.push_back(empty.finish({empty.add(ir::SliceAssign{{3}, {1}}, {x, nothing})}));
  return all;
}

// Of an input and of what is computed, as an output and on the way to one; one placed twice.
std::vector<Sample> place_samples() {
  auto all = with_one_more(unary({4, 6, 5}, {ir::Place{0}, ir::Place{2, ir::MeshAxis::model}}), {DType::f32, {0, 3}},
                           ir::Place{0});
  SampleBuilder sample("between others");
  const auto x = sample.input({DType::f32, {4, 6}});
  const auto y = sample.add(ir::Pointwise{ir::PointwiseFn::exp}, {sample.add(ir::Place{0}, {x})});
  const auto z = sample.add(ir::Place{1}, {sample.add(ir::Place{0}, {y})});
  all.push_back(
      sample.finish({sample.add(ir::Pointwise{ir::PointwiseFn::add}, {z, y}), sample.add(ir::Place{0}, {z}), z}));
  return all;
}

std::vector<Sample> concat_samples() {
  std::vector<Sample> all;
  for (const auto dtype : dtypes()) {
    for (const auto view : kViews) {
      for (const int axis : {0, 1, 2}) {
        SampleBuilder sample(title(dtype, name(view), std::to_string(axis)));
        Shape a{2, 3, 4}, b = a, nothing = a;
        b[axis] = 5;
        nothing[axis] = 0;
        const auto x = sample.view({dtype, a}, view), y = sample.view({dtype, b}, View::plain);
        const auto z = sample.input({dtype, nothing});
        all.push_back(sample.finish({sample.add(ir::Concat{axis}, {x, y, z, x}), sample.add(ir::Concat{axis}, {y})}));
      }
    }
  }
  SampleBuilder large("large");
  const auto x = large.input({DType::f32, {100, 300}}), y = large.input({DType::f32, {100, 500}});
  all.push_back(large.finish({large.add(ir::Concat{1}, {x, y})}));
  return all;
}

// The index of x's rank, or one row of it repeated.
ir::Ref make_index(SampleBuilder& sample, const Shape& shape, int axis, std::int64_t limit, DType dtype, bool rows) {
  if (!rows) return sample.index(shape, limit, dtype);
  Shape line = Dims::filled(shape.rank(), 1);
  line[axis] = shape[axis];
  return sample.add(ir::Expand{shape}, {sample.index(line, limit, dtype)});
}

std::vector<Sample> gather_samples() {
  std::vector<Sample> all;
  for (const auto dtype : dtypes()) {
    for (const auto index_dtype : {DType::i64, DType::i32}) {
      for (const auto view : kViews) {
        for (const int axis : {0, 1, 2}) {
          SampleBuilder sample(title(dtype, ir::name(index_dtype), name(view), std::to_string(axis)));
          const auto x = sample.view({dtype, {4, 5, 6}}, view, Values::special);
          Shape taken{4, 5, 6};
          taken[axis] = 9;
          const auto each = make_index(sample, taken, axis, 4, index_dtype, false);
          const auto rows = make_index(sample, taken, axis, 4, index_dtype, true);
          all.push_back(
              sample.finish({sample.add(ir::Gather{axis}, {x, each}), sample.add(ir::Gather{axis}, {x, rows})}));
        }
      }
    }
  }
  SampleBuilder sample("large rows, nothing of nothing");
  const auto x = sample.input({DType::f32, {500, 128}}), nothing = sample.input({DType::f32, {0, 128}});
  const auto rows = make_index(sample, {900, 128}, 0, 500, DType::i64, true);
  const auto none = sample.input({DType::i64, {0, 128}});
  all.push_back(sample.finish({sample.add(ir::Gather{0}, {x, rows}), sample.add(ir::Gather{0}, {x, none}),
                               sample.add(ir::Gather{0}, {nothing, none})}));
  return all;
}

std::vector<Sample> scatter_samples() {
  using ir::ScatterFn;
  std::vector<Sample> all;
  for (const auto fn : {ScatterFn::assign, ScatterFn::add, ScatterFn::mul, ScatterFn::max, ScatterFn::min}) {
    for (const auto dtype : dtypes()) {
      if (ir::is_bool(dtype) && (fn == ScatterFn::add || fn == ScatterFn::mul)) continue;
      for (const auto view : kViews) {
        for (const int axis : {0, 1, 2}) {
          SampleBuilder sample(title(dtype, ir::name(fn), name(view), std::to_string(axis)));
          const auto x = sample.view({dtype, {4, 5, 6}}, view);
          Shape part{4, 5, 6};
          part[axis] = 7;
          const auto values = sample.view({dtype, part}, view);
          const auto each = make_index(sample, part, axis, 4, DType::i64, false);
          const auto rows = make_index(sample, part, axis, 4, DType::i32, true);
          const auto first = sample.add(ir::Scatter{axis, fn}, {x, each, values});
          all.push_back(sample.finish({sample.add(ir::Scatter{axis, fn}, {first, rows, values})}, 4));
        }
      }
    }
    SampleBuilder sample("large " + std::string(ir::name(fn)));
    const auto x = sample.input({DType::f32, {300, 256}}, Values::positive);
    const auto values = sample.input({DType::f32, {400, 256}}, Values::positive);
    const auto rows = make_index(sample, {400, 256}, 0, 300, DType::i64, true);
    const auto each = make_index(sample, {300, 200}, 1, 256, DType::i64, false);
    const auto others = sample.input({DType::f32, {300, 200}}, Values::positive);
    const auto once = sample.add(ir::Scatter{0, fn}, {x, rows, values});
    all.push_back(sample.finish({sample.add(ir::Scatter{1, fn}, {once, each, others})}, 4));
  }
  return all;
}

}  // namespace

std::vector<Sample> move_samples(std::string_view op) {
  const Dims ones{1, 1, 1};
  if (op == "reshape") {
    return with_one_more(unary({4, 6, 5}, {ir::Reshape{{120}}, ir::Reshape{{2, 2, 6, 5}}, ir::Reshape{{4, 30}},
                                           ir::Reshape{{1, 24, 1, 5}}, ir::Reshape{{4, 3, 2, 5, 1}},
                                           ir::Reshape{{8, 15}}, ir::Reshape{{4, 6, 5}}}),
                         {DType::f32, {3, 0}}, ir::Reshape{{0, 7}});
  }
  if (op == "permute") {
    return with_one_more(unary({4, 6, 5}, {ir::Permute{{2, 1, 0}}, ir::Permute{{1, 0, 2}}, ir::Permute{{0, 2, 1}},
                                           ir::Permute{{1, 2, 0}}, ir::Permute{{0, 1, 2}}}),
                         {DType::f32, {3, 70, 130}}, ir::Permute{{2, 0, 1}});
  }
  if (op == "expand") {
    return with_one_more(unary({4, 1, 5}, {ir::Expand{{4, 6, 5}}, ir::Expand{{3, 4, 6, 5}}, ir::Expand{{2, 1, 4, 1, 5}},
                                           ir::Expand{{4, 0, 5}}}),
                         {DType::bf16, {}}, ir::Expand{{33, 65}});
  }
  if (op == "slice") {
    return with_one_more(
        unary({4, 6, 5}, {ir::Slice{{0, 0, 0}, {4, 6, 5}, ones}, ir::Slice{{1, 2, 0}, {2, 3, 5}, ones},
                          ir::Slice{{3, 5, 4}, {2, 3, 5}, {-2, -2, -1}}, ir::Slice{{0, 1, 2}, {4, 3, 1}, {1, 2, 3}},
                          ir::Slice{{4, 0, 0}, {0, 6, 5}, ones}}),
        {DType::f32, {100, 800}}, ir::Slice{{99, 0}, {100, 400}, {-1, 2}});
  }
  if (op == "slice_assign") return slice_assign_samples();
  if (op == "concat") return concat_samples();
  if (op == "gather") return gather_samples();
  if (op == "scatter") return scatter_samples();
  if (op == "place") return place_samples();
  return {};
}

}  // namespace burn::testing
