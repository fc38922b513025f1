// Collectives of a group of one member, on which a single backend can be compared with the reference.
#include "ir/enums.h"
#include "tests/ops/sample_builder.h"

namespace burn::testing {

using ir::DType;
using ir::ReduceFn;

std::vector<Sample> collective_samples(std::string_view op) {
  std::vector<Sample> all;
  const auto add = [&](const ir::Op& collective, const ir::TensorType& type, View view) {
    SampleBuilder sample(std::string(ir::name(type.dtype)) + " " + to_string(type.shape) + std::string(name(view)));
    const auto x = sample.view(type, view);
    const Sample one = sample.finish({sample.add(collective, {x})});
    if (ir::name(collective) == op) all.push_back(one);
  };
  for (const auto dtype : dtypes()) {
    for (const auto view : kViews) {
      const auto fn = ir::is_bool(dtype) ? ReduceFn::max : ReduceFn::sum;
      add(ir::AllReduce{fn}, {dtype, {3, 4}}, view);
      add(ir::ReduceScatter{fn, 1, {4}}, {dtype, {3, 4}}, view);
      add(ir::AllGather{0, {3}}, {dtype, {3, 4}}, view);
      add(ir::AllToAll{0, {3}, 1, {4}}, {dtype, {3, 4}}, view);
    }
  }
  add(ir::AllReduce{ReduceFn::prod}, {DType::f32, {}}, View::plain);
  add(ir::AllReduce{ReduceFn::min}, {DType::i16, {0, 5}}, View::plain);
  add(ir::ReduceScatter{ReduceFn::min, 0, {0}}, {DType::f32, {0, 5}}, View::plain);
  add(ir::AllGather{1, {0}}, {DType::f16, {2, 0}}, View::plain);
  add(ir::AllToAll{1, {5}, 1, {5}}, {DType::i64, {2, 5}}, View::plain);
  return all;
}

}  // namespace burn::testing
