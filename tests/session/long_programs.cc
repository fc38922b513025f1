#include "tests/session/long_programs.h"

#include <cstdint>
#include <utility>

#include "tests/ops/op_case.h"

namespace burn::session {
namespace {

using ir::DType;
using ir::Ref;
using Made = LongProgram::Made;

constexpr std::int64_t kMany = std::int64_t{1} << 26;

// Builds one program. Inputs are written in full, wide() values are one number seen many times.
class Builder {
 public:
  Ref wide(const ir::Shape& shape, DType dtype = DType::f32) {
    ir::Shape one;
    for (int i = 0; i < shape.rank(); ++i) one.push_back(1);
    const auto x = input({DType::f32, one}, [](std::int64_t) { return 1.0; });
    const auto typed = dtype == DType::f32 ? x : add(ir::Cast{dtype}, {x});
    return add(ir::Expand{shape}, {typed});
  }
  // Ones, in full: of what has to lie in memory as it is, a copy would take the time.
  Ref full(const ir::Shape& shape, DType dtype = DType::f32) {
    return input({dtype, shape}, [](std::int64_t) { return 1.0; });
  }
  // Numbers in [0, 1) that look drawn; `on_diagonal` is added there.
  Ref matrix(DType dtype, std::int64_t rows, std::int64_t columns, double on_diagonal = 0) {
    return input({dtype, {rows, columns}}, [=](std::int64_t i) {
      const auto mixed = (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15u;
      return static_cast<double>(mixed >> 40) * 0x1p-24 + (i / columns == i % columns ? on_diagonal : 0);
    });
  }
  Ref drawn(const ir::Shape& shape) {
    return input({DType::f32, shape}, [](std::int64_t i) {
      return static_cast<double>((static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15u >> 40);
    });
  }
  Ref add(const ir::Op& op, std::vector<Ref> operands) { return value_or_throw(builder_.add(op, operands)); }

  Made finish(std::vector<Ref> outputs) {
    return {std::make_shared<const ir::Program>(builder_.finish(std::move(outputs))), std::move(inputs_)};
  }

 private:
  template <typename Number>
  Ref input(const ir::TensorType& type, const Number& number) {
    const auto count = ir::num_elements(type.shape);
    const auto fill = [&]<typename T>() {
      std::vector<T> numbers(static_cast<std::size_t>(count));
      for (std::int64_t i = 0; i < count; ++i) numbers[static_cast<std::size_t>(i)] = static_cast<T>(number(i));
      inputs_.push_back({type, SharedBytes::own(std::move(numbers))});
    };
    type.dtype == DType::f64 ? fill.template operator()<double>() : fill.template operator()<float>();
    return builder_.add_input(type);
  }

  ir::ProgramBuilder builder_;
  std::vector<proto::HostTensor> inputs_;
};

// One op on operands that `operands` makes.
template <typename Operands>
std::function<Made()> one(const ir::Op& op, Operands operands) {
  return [=] {
    Builder b;
    const auto made = operands(b);
    return b.finish({b.add(op, made)});
  };
}

// One operand, a number seen many times or written in full.
auto of(const ir::Shape& shape) {
  return [=](Builder& b) { return std::vector<Ref>{b.wide(shape)}; };
}
auto all_of(const ir::Shape& shape) {
  return [=](Builder& b) { return std::vector<Ref>{b.full(shape)}; };
}

ir::Dims same(int rank, std::int64_t value) { return ir::Dims::filled(rank, value); }

template <typename Op>
Op convolution(int rank) {
  Op op;
  op.stride = op.dilation = op.pad_begin = op.pad_end = same(rank, 1);
  return op;
}

// `sides`: of a plane or a block; kernels of 3 in each dim.
void add_convolutions(std::vector<LongProgram>& all, DType dtype, std::int64_t channels, const ir::Dims& sides) {
  const auto rank = sides.rank();
  ir::Shape x{1, channels}, weight{channels, channels};
  for (const auto side : sides) {
    x.push_back(side);
    weight.push_back(3);
  }
  const auto name = [&](std::string_view op) {
    return std::string(op) + " of rank " + std::to_string(rank) + (dtype == DType::f64 ? " f64" : " f32");
  };
  const auto both = [=](const ir::Shape& first, const ir::Shape& second) {
    return [=](Builder& b) { return std::vector<Ref>{b.full(first, dtype), b.full(second, dtype)}; };
  };
  all.push_back({"conv", name("conv"), one(convolution<ir::Conv>(rank), both(x, weight))});
  auto input_grad = convolution<ir::ConvInputGrad>(rank);
  input_grad.input_size = sides;
  all.push_back({"conv_input_grad", name("conv_input_grad"), one(input_grad, both(x, weight))});
  auto weight_grad = convolution<ir::ConvWeightGrad>(rank);
  weight_grad.kernel_size = same(rank, 3);
  all.push_back({"conv_weight_grad", name("conv_weight_grad"), one(weight_grad, both(x, x))});
}

void add_linalg(std::vector<LongProgram>& all) {
  const auto square = [](DType dtype, std::int64_t n) {
    return [=](Builder& b) { return std::vector<Ref>{b.matrix(dtype, n, n, static_cast<double>(n))}; };
  };
  const auto system = [](DType dtype, std::int64_t n, std::int64_t columns) {
    return [=](Builder& b) {
      return std::vector<Ref>{b.matrix(dtype, n, n, static_cast<double>(n)), b.matrix(dtype, n, columns)};
    };
  };
  all.push_back({"cholesky", "cholesky", one(ir::Cholesky{}, square(DType::f64, 5000))});
  all.push_back({"lu", "lu", one(ir::Lu{}, square(DType::f64, 4000))});
  all.push_back({"qr", "qr", one(ir::Qr{}, square(DType::f64, 2000))});
  all.push_back({"svd", "svd", one(ir::Svd{}, square(DType::f64, 1200))});
  all.push_back({"eigh", "eigh", one(ir::Eigh{}, square(DType::f64, 1500))});
  all.push_back({"solve", "solve", one(ir::Solve{}, system(DType::f64, 4000, 1))});
  all.push_back({"det", "det", one(ir::Det{}, square(DType::f64, 4000))});
  all.push_back(
      {"solve_triangular", "solve_triangular f64", one(ir::SolveTriangular{}, system(DType::f64, 4000, 4000))});
}

void add_axes(std::vector<LongProgram>& all) {
  const auto sum_of = [](const ir::Op& op) {
    return [=] {
      Builder b;
      constexpr auto kHuge = std::int64_t{1} << 32;
      const auto y = b.add(op, {b.wide({kHuge, 4096})});
      return b.finish({b.add(ir::Reduce{ir::ReduceFn::sum, {0, 1}}, {y})});
    };
  };
  all.push_back({"pointwise", "pointwise", sum_of(ir::Pointwise{ir::PointwiseFn::exp})});
  all.push_back({"cast", "cast", one(ir::Cast{DType::i32}, of({2 * kMany}))});
  all.push_back({"reduce", "reduce", one(ir::Reduce{ir::ReduceFn::sum, {0, 1}}, [](Builder& b) {
                   return std::vector<Ref>{b.add(ir::Expand{{std::int64_t{1} << 32, 4096}}, {b.full({1, 4096})})};
                 })});
  all.push_back({"iota", "iota", one(ir::Iota{DType::i32, 2 * kMany}, [](Builder&) { return std::vector<Ref>{}; })});
  all.push_back({"random", "random", one(ir::Random{.fn = ir::RandomFn::normal, .shape = {kMany}}, [](Builder&) {
                   return std::vector<Ref>{};
                 })});
  all.push_back({"arg_reduce", "arg_reduce", one(ir::ArgReduce{ir::ArgFn::max, 1}, all_of({64, kMany / 64}))});
  all.push_back({"scan", "scan of columns", one(ir::Scan{ir::ReduceFn::sum, 0}, all_of({1 << 13, kMany >> 13}))});
  all.push_back({"sort", "sort", one(ir::Sort{}, [](Builder& b) { return std::vector<Ref>{b.drawn({kMany / 4})}; })});
  all.push_back({"top_k", "top_k",
                 one(ir::TopK{.k = kMany / 32}, [](Builder& b) { return std::vector<Ref>{b.drawn({kMany / 4})}; })});
  all.push_back({"matmul", "matmul f64", one(ir::MatMul{}, [](Builder& b) {
                   return std::vector<Ref>{b.full({6000, 6000}, DType::f64), b.full({6000, 6000}, DType::f64)};
                 })});
  all.push_back({"banded_scan", "banded_scan", one(ir::BandedScan{.semiring = ir::Semiring::log}, [](Builder& b) {
                   return std::vector<Ref>{b.full({1, kMany / 4096, 64}), b.full({1, kMany / 4096, 64, 64})};
                 })});
  all.push_back({"fft", "fft", one(ir::Fft{}, [](Builder& b) {
                   return std::vector<Ref>{b.full({kMany / 4}), b.full({kMany / 4})};
                 })});
  all.push_back({"real_fft", "real_fft", one(ir::RealFft{}, all_of({kMany / 4}))});
  all.push_back({"inverse_real_fft", "inverse_real_fft", one(ir::InverseRealFft{.length = kMany / 4}, [](Builder& b) {
                   return std::vector<Ref>{b.full({kMany / 8 + 1}), b.full({kMany / 8 + 1})};
                 })});
}

void add_windows(std::vector<LongProgram>& all) {
  add_convolutions(all, DType::f64, 64, {128, 128});
  add_convolutions(all, DType::f32, 128, {64, 64, 64});
  constexpr std::int64_t kSide = 2048, kWindow = kSide - 1, kLarge = 1 << 13;
  const auto window = same(2, kWindow), step = same(2, 1), padding = same(2, kWindow / 2), size = same(2, kSide);
  const ir::Shape plane{1, 1, kSide, kSide}, large{1, 1, kLarge, kLarge};
  all.push_back({"avg_pool", "avg_pool", one(ir::AvgPool{window, step, padding}, of(plane))});
  all.push_back({"avg_pool_grad", "avg_pool_grad", one(ir::AvgPoolGrad{window, step, padding, size}, of(plane))});
  all.push_back({"max_pool", "max_pool", one(ir::MaxPool{window, step, padding, step}, of(plane))});
  all.push_back({"adaptive_avg_pool", "adaptive_avg_pool", one(ir::AdaptiveAvgPool{size}, of(large))});
  all.push_back({"adaptive_max_pool", "adaptive_max_pool", one(ir::AdaptiveMaxPool{size}, of(large))});
  all.push_back(
      {"adaptive_avg_pool_grad", "adaptive_avg_pool_grad", one(ir::AdaptiveAvgPoolGrad{same(2, kLarge)}, of(plane))});
  all.push_back(
      {"interpolate", "interpolate", one(ir::Interpolate{same(2, kLarge), ir::InterpolateMode::bicubic}, of(plane))});
  all.push_back({"interpolate_grad", "interpolate_grad",
                 one(ir::InterpolateGrad{size, ir::InterpolateMode::bicubic}, of(large))});
}

void add_rest(std::vector<LongProgram>& all) {
  constexpr std::int64_t kQueries = 1 << 12, kKeys = 1 << 21, kWidth = 8;
  all.push_back({"attention", "attention", one(ir::Attention{}, [](Builder& b) {
                   return std::vector<Ref>{b.wide({16 * kQueries, kWidth}), b.wide({kKeys, kWidth}),
                                           b.wide({kKeys, kWidth}), b.wide({16 * kQueries, kKeys})};
                 })});
  all.push_back({"attention_grad", "attention_grad", one(ir::AttentionGrad{}, [](Builder& b) {
                   const auto q = b.wide({kQueries, kWidth}), k = b.wide({kKeys, kWidth});
                   return std::vector<Ref>{q, k, k, q, b.wide({kQueries, 1}), q};
                 })});
  all.push_back({"slice_assign", "slice_assign", one(ir::SliceAssign{{0}, {1}}, [](Builder& b) {
                   return std::vector<Ref>{b.wide({2 * kMany}), b.wide({kMany})};
                 })});
  all.push_back({"concat", "concat", one(ir::Concat{0}, [](Builder& b) {
                   return std::vector<Ref>{b.wide({kMany}), b.wide({kMany})};
                 })});
  all.push_back({"gather", "gather", one(ir::Gather{0}, [](Builder& b) {
                   return std::vector<Ref>{b.wide({4}), b.wide({2 * kMany}, DType::i64)};
                 })});
  all.push_back({"scatter", "scatter", one(ir::Scatter{0, ir::ScatterFn::add}, [](Builder& b) {
                   constexpr auto kHuge = std::int64_t{1} << 44;
                   return std::vector<Ref>{b.wide({4}), b.wide({kHuge}, DType::i64), b.wide({kHuge})};
                 })});
}

// Of the ops whose tests are one file.
void add_cases(std::vector<LongProgram>& all) {
  for (const auto& one : burn::testing::op_cases()) {
    all.push_back({one.op, one.op, [slow = one.slow] {
                     ir::ProgramBuilder builder;
                     std::vector<proto::HostTensor> inputs;
                     std::vector<Ref> operands;
                     for (const auto& operand : slow.operands()) {
                       operands.push_back(builder.add_input(operand.type));
                       inputs.push_back({operand.type, SharedBytes::own(reference::to_bytes(operand))});
                     }
                     const auto result = value_or_throw(builder.add(slow.op, operands));
                     return Made{std::make_shared<const ir::Program>(builder.finish({result})), std::move(inputs)};
                   }});
  }
}

}  // namespace

std::vector<LongProgram> long_programs() {
  std::vector<LongProgram> all;
  add_axes(all);
  add_linalg(all);
  add_windows(all);
  add_rest(all);
  add_cases(all);
  return all;
}

std::vector<std::string> instant_ops() {
  return {
      "constant", "scalar",     "reshape",        "permute",    "expand",    "slice", "place",
      "commit",   "all_reduce", "reduce_scatter", "all_gather", "all_to_all"};  // fail in a session that is in no group
}

}  // namespace burn::session
