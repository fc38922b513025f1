#include "tests/ir/samples.h"

#include "tests/ops/op_case.h"

namespace burn::ir {
namespace {

constexpr auto f32 = DType::f32;
constexpr auto i64 = DType::i64;

// Every pointwise function on [2, 3], and once more with a rank-0 last operand.
void add_pointwise(std::vector<Sample>& all) {
  for (int i = 0; i < pointwise_count(); ++i) {
    const auto fn = static_cast<PointwiseFn>(i);
    const auto kind = row(fn).kind;
    const DType dtype = kind == PointwiseClass::integral  ? DType::i32
                        : kind == PointwiseClass::logical ? DType::bool_
                                                          : f32;
    const bool to_bool = kind == PointwiseClass::compare || kind == PointwiseClass::test;
    std::vector<TensorType> operands(static_cast<std::size_t>(row(fn).arity), TensorType{dtype, {2, 3}});
    if (kind == PointwiseClass::choose) operands[0].dtype = DType::bool_;
    const TensorType result{to_bool ? DType::bool_ : dtype, {2, 3}};
    all.push_back({Pointwise{fn}, operands, {result}});
    if (operands.size() == 1) continue;
    operands.back().shape = {};
    all.push_back({Pointwise{fn}, operands, {result}});
  }
}

void add_attention(std::vector<Sample>& all) {
  const TensorType q{f32, {2, 3, 4}}, k{f32, {2, 5, 4}}, v{f32, {2, 5, 6}}, y{f32, {2, 3, 6}};
  const TensorType mask{DType::bool_, {2, 3, 5}}, bias{f32, {2, 3, 5}}, statistics{f32, {2, 3, 1}};
  all.push_back({Attention{0.5, true}, {q, k, v}, {y, statistics}});
  all.push_back({Attention{0.5, false}, {q, k, v, mask, bias}, {y, statistics}});
  all.push_back({AttentionGrad{0.5, true}, {q, k, v, y, statistics, y}, {q, k, v}});
  all.push_back({AttentionGrad{0.5, false}, {q, k, v, y, statistics, y, bias}, {q, k, v}});
}

void add_convolutions(std::vector<Sample>& all) {
  // 3x3 with stride 2 over 5x6, padded: [2, 4, 5, 6], [6, 2, 3, 3] -> [2, 6, 3, 3]
  const Dims stride{2, 2}, begin{1, 1}, end{1, 0}, dilation{1, 1};
  const TensorType x{f32, {2, 4, 5, 6}}, weight{f32, {6, 2, 3, 3}}, y{f32, {2, 6, 3, 3}};
  all.push_back({Conv{stride, begin, end, dilation, 2}, {x, weight}, {y}});
  all.push_back({ConvInputGrad{stride, begin, end, dilation, {5, 6}, 2}, {y, weight}, {x}});
  all.push_back({ConvWeightGrad{stride, begin, end, dilation, {3, 3}, 2}, {x, y}, {weight}});
}

void add_pools(std::vector<Sample>& all) {
  const TensorType x{f32, {2, 3, 5, 6}}, y{f32, {2, 3, 3, 4}};  // kernel 2, stride 2, padding 0 and 1, ceil
  const Dims kernel{2, 2}, stride{2, 2}, padding{0, 1};
  all.push_back({AvgPool{kernel, stride, padding, true, true}, {x}, {y}});
  all.push_back({AvgPoolGrad{kernel, stride, padding, {5, 6}, true, true}, {y}, {x}});
  all.push_back({MaxPool{kernel, stride, padding, {1, 1}, true}, {x}, {y, {i64, y.shape}}});
  all.push_back({AdaptiveAvgPool{{3, 4}}, {x}, {y}});
  all.push_back({AdaptiveAvgPoolGrad{{5, 6}}, {y}, {x}});
  all.push_back({AdaptiveMaxPool{{3, 4}}, {x}, {y, {i64, y.shape}}});
  all.push_back({Interpolate{{3, 4}, InterpolateMode::bicubic, true}, {x}, {y}});
  all.push_back({InterpolateGrad{{5, 6}, InterpolateMode::bicubic, true}, {y}, {x}});
}

void add_linalg(std::vector<Sample>& all) {
  const TensorType square{f32, {2, 3, 3}}, x{f32, {2, 3, 5}}, side{f32, {2, 3, 4}};
  all.push_back({Cholesky{}, {square}, {square}});
  all.push_back({Lu{}, {x}, {x, {i64, {2, 3}}, {f32, {2}}}});
  all.push_back({Qr{true}, {x}, {square, x}});
  all.push_back({Qr{false}, {{f32, {2, 5, 3}}}, {{f32, {2, 5, 5}}, {f32, {2, 5, 3}}}});
  all.push_back({Svd{}, {x}, {square, {f32, {2, 3}}, x}});
  all.push_back({Eigh{}, {square}, {{f32, {2, 3}}, square}});
  all.push_back({Solve{}, {square, side}, {side}});
  all.push_back({SolveTriangular{false, true}, {square, side}, {side}});
  all.push_back({Det{}, {square}, {{f32, {2}}}});
}

void add_fourier(std::vector<Sample>& all) {
  const TensorType x{f32, {2, 5, 3}}, half{f32, {2, 3, 3}};
  all.push_back({Fft{1, true}, {x, x}, {x, x}});
  all.push_back({RealFft{1}, {x}, {half, half}});
  all.push_back({InverseRealFft{1, 5}, {half, half}, {x}});
}

void add_moves(std::vector<Sample>& all) {
  const TensorType x{f32, {2, 3, 4}};
  all.push_back({Reshape{{6, 4}}, {x}, {{f32, {6, 4}}}});
  all.push_back({Permute{{2, 0, 1}}, {x}, {{f32, {4, 2, 3}}}});
  all.push_back({Expand{{5, 2, 3}}, {{f32, {2, 1}}}, {{f32, {5, 2, 3}}}});
  all.push_back({Slice{{0, 2, 1}, {2, 3, 2}, {1, -1, 2}}, {x}, {{f32, {2, 3, 2}}}});
  all.push_back({SliceAssign{{1, 0, 3}, {1, 1, -3}}, {x, {f32, {1, 2, 2}}}, {x}});
  all.push_back({Place{1, MeshAxis::model}, {x}, {x}});
  all.push_back({Concat{1}, {x, {f32, {2, 5, 4}}}, {{f32, {2, 8, 4}}}});
  all.push_back({Gather{1}, {x, {i64, {2, 7, 4}}}, {{f32, {2, 7, 4}}}});
  all.push_back({Scatter{0, ScatterFn::add}, {x, {DType::i32, {5, 3, 4}}, {f32, {5, 3, 4}}}, {x}});
}

std::vector<Sample> make_samples() {
  const TensorType x{f32, {2, 3, 4}};
  std::vector<Sample> all = {
      {Constant{f32, 0, 1.5}, {}, {{f32, {}}}},
      {Constant{i64, -7}, {}, {{i64, {}}}},
      {Scalar{f32, 0}, {}, {{f32, {}}}},
      {Iota{i64, 5}, {}, {{i64, {5}}}},
      {Commit{}, {}, {{DType::bool_, {}}}},
      {AllReduce{ReduceFn::sum, 1, 7}, {x}, {x}},
      {ReduceScatter{ReduceFn::max, 1, {1, 2}, 1, 1, 7}, {x}, {{f32, {2, 2, 4}}}},
      {AllGather{1, {1, 3, 0}, 1, 1, 7}, {x}, {{f32, {2, 4, 4}}}},
      {AllToAll{1, {1, 3}, 2, {0, 4}, 1, 1}, {x}, {{f32, {2, 4, 4}}}},
      {Random{RandomFn::normal, f32, {2, 3}, 0}, {}, {{f32, {2, 3}}}},
      {Random{RandomFn::uniform, f32, {2, 3}, 0, {4, 8}, {2, 1}}, {}, {{f32, {2, 3}}}},
      {Cast{DType::f16}, {x}, {{DType::f16, x.shape}}},
      {Reduce{ReduceFn::sum, {0, 2}}, {x}, {{f32, {1, 3, 1}}}},
      {ArgReduce{ArgFn::max, 1}, {x}, {{i64, {2, 1, 4}}}},
      {Scan{ReduceFn::sum, 1}, {x}, {x}},
      {Sort{2, true}, {x}, {x, {i64, x.shape}}},
      {TopK{1, 2, true}, {x}, {{f32, {2, 2, 4}}, {i64, {2, 2, 4}}}},
      {BandedScan{Semiring::log, true}, {x, {f32, {2, 3, 2, 4}}}, {x}},
      {MatMul{}, {x, {f32, {2, 4, 5}}}, {{f32, {2, 3, 5}}}},
  };
  add_pointwise(all);
  add_attention(all);
  add_convolutions(all);
  add_pools(all);
  add_linalg(all);
  add_fourier(all);
  add_moves(all);
  for (const auto& one : testing::op_cases()) {
    for (const auto& use : one.uses) all.push_back({use.op, use.operands, use.results});
  }
  return all;
}

}  // namespace

const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = make_samples();
  return all;
}

Result<TypeList> infer_types(const Op& op, std::span<const TensorType> operands) {
  std::vector<const TensorType*> pointers;
  for (const auto& type : operands) pointers.push_back(&type);
  return infer(op, pointers);
}

std::string inferred(const Op& op, std::vector<TensorType> operands) {
  const auto types = infer_types(op, operands);
  return types.ok() ? to_string(types->span()) : types.status().message();
}

std::string to_string(std::span<const TensorType> types) {
  std::string text;
  for (const auto& type : types) text += (text.empty() ? "" : ", ") + to_string(type);
  return text;
}

}  // namespace burn::ir
