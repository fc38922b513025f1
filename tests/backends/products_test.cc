// Which products are joined with what stands beside them; and, where there is a GPU, what joins and TF32 do to numbers.
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/plan/plan.h"
#include "compile/rewrite/simplify.h"
#include "tests/backends/relative_error.h"
#include "tests/backends/test_device.h"
#include "tests/ops/sample_builder.h"

namespace burn::testing {
namespace {

using ir::DType;
using ir::PointwiseFn;
using ir::Ref;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Kind = compile::ProductWithEpilogue::Kind;

class Products : public ::testing::Test {
 protected:
  Ref input(const ir::Shape& shape, DType dtype = DType::bf16) { return program_.add_input({dtype, shape}); }
  Ref add(const ir::Op& op, std::initializer_list<Ref> operands) {
    return *program_.add(op, std::span(operands.begin(), operands.size()));
  }
  Ref add(PointwiseFn fn, std::initializer_list<Ref> operands) { return add(ir::Pointwise{fn}, operands); }
  Ref matmul(Ref a, Ref b) { return add(ir::MatMul{}, {a, b}); }
  Ref transposed(Ref x) { return add(ir::Permute{{1, 0}}, {x}); }
  Ref column_sums(Ref x) { return add(ir::Reduce{ir::ReduceFn::sum, {0}}, {x}); }
  // [columns] in every row.
  Ref rows_of(Ref bias, std::int64_t rows) {
    const auto columns = program_.type_of(bias).shape[0];
    return add(ir::Expand{{rows, columns}}, {add(ir::Reshape{{1, columns}}, {bias})});
  }

  const compile::Plan& plan(std::vector<Ref> outputs, compile::PlanOptions options = {.epilogues = true}) {
    made_ = compile::simplify(program_.finish(std::move(outputs)), true);
    plan_ = compile::make_plan(made_, options);
    return plan_;
  }
  const compile::PlanStep& step_of(std::int32_t product) const {
    return *std::ranges::find(plan_.steps, product, &compile::PlanStep::product);
  }
  std::string_view op(std::int32_t node) const { return ir::name(made_.nodes[static_cast<std::size_t>(node)].op); }

  ir::ProgramBuilder program_;
  ir::Program made_;
  compile::Plan plan_;
};

TEST_F(Products, TakeInABias) {
  const auto x = input({64, 32}), w = input({32, 48}), bias = input({48});
  const auto y = add(PointwiseFn::add, {matmul(x, w), rows_of(bias, 64)});
  const auto& made = plan({add(ir::Reshape{{8, 8, 48}}, {y})});
  ASSERT_THAT(made.products, SizeIs(1));
  EXPECT_EQ(made.products[0].kind, Kind::bias);
  EXPECT_EQ(op(made.products[0].product), "matmul");
  EXPECT_EQ(op(made.products[0].neighbour), "add");
  const auto& step = step_of(0);
  EXPECT_THAT(step.reads, ElementsAre(x, w, bias));
  ASSERT_THAT(step.results, SizeIs(1));
  EXPECT_EQ(op(made_.node_of(step.results[0])), "add");
  EXPECT_EQ(made.last_use(x), &step - made.steps.data());
  // Neither is a step of its own.
  for (const auto& other : made.steps) {
    if (other.group != compile::PlanStep::kSingle || other.product != compile::PlanStep::kNone) continue;
    EXPECT_TRUE(op(other.node) != "matmul" && op(other.node) != "add");
  }
}

TEST_F(Products, TakeInABiasOfTheirRowsInMoreDims) {
  const auto x = input({64, 32}), w = input({32, 48}), bias = input({48});
  const auto product = add(ir::Reshape{{4, 16, 48}}, {matmul(x, w)});
  const auto rows = add(ir::Expand{{4, 16, 48}}, {add(ir::Reshape{{1, 1, 48}}, {bias})});
  const auto& made = plan({add(ir::Permute{{1, 0, 2}}, {add(PointwiseFn::add, {product, rows})})});
  ASSERT_THAT(made.products, SizeIs(1));
  EXPECT_EQ(made.products[0].kind, Kind::bias);
  for (const auto& step : made.steps) {
    if (step.group == compile::PlanStep::kSingle && step.product == compile::PlanStep::kNone) {
      EXPECT_NE(op(step.node), "matmul");
    }
  }
}

TEST_F(Products, WithOtherColumnsThanTheBiasStayAsTheyAre) {
  const auto x = input({64, 32}), w = input({32, 48}), bias = input({24});
  const auto product = add(ir::Reshape{{128, 24}}, {matmul(x, w)});
  EXPECT_THAT(plan({add(PointwiseFn::add, {product, rows_of(bias, 128)})}).products, IsEmpty());
}

TEST_F(Products, TakeInABiasThatIsComputedLaterAndStandsFirst) {
  const auto x = input({64, 32}), w = input({32, 48});
  const auto product = matmul(x, w);
  const auto bias = add(ir::Scan{ir::ReduceFn::sum, 0}, {input({48})});
  const auto y = add(PointwiseFn::add, {rows_of(bias, 64), product});
  const auto& made = plan({y});
  ASSERT_THAT(made.products, SizeIs(1));
  // The sum stands behind what it reads.
  EXPECT_EQ(&step_of(0), &made.steps.back());
}

TEST_F(Products, OfABatchTakeInABias) {
  const auto x = input({4, 16, 32}), w = input({4, 32, 48});
  const auto bias = add(ir::Expand{{4, 16, 48}}, {input({48})});
  EXPECT_THAT(plan({add(PointwiseFn::add, {matmul(x, w), bias})}).products, SizeIs(1));
}

TEST_F(Products, ThatOthersReadStayAsTheyAre) {
  const auto x = input({64, 32}), w = input({32, 48}), bias = input({48});
  const auto product = matmul(x, w);
  const auto y = add(PointwiseFn::add, {product, rows_of(bias, 64)});
  EXPECT_THAT(plan({y, product}).products, IsEmpty());
}

TEST_F(Products, ThatAScanReadsTooStayAsTheyAre) {
  const auto x = input({64, 32}), w = input({32, 48}), bias = input({48});
  const auto product = matmul(x, w);
  const auto y = add(PointwiseFn::add, {product, rows_of(bias, 64)});
  EXPECT_THAT(plan({y, add(ir::Scan{ir::ReduceFn::sum, 0}, {product})}).products, IsEmpty());
}

TEST_F(Products, OfAnotherDtypeThanTheBiasStayAsTheyAre) {
  const auto x = input({64, 32}), w = input({32, 48}), bias = input({48}, DType::f32);
  const auto wide = add(ir::Cast{DType::f32}, {matmul(x, w)});
  const auto y = add(PointwiseFn::add, {wide, rows_of(bias, 64)});
  EXPECT_THAT(plan({y}).products, IsEmpty());
}

TEST_F(Products, TakeInNothingButRows) {
  const auto x = input({64, 32}), w = input({32, 48});
  const auto with = [&](Ref other) { return add(PointwiseFn::add, {matmul(x, w), other}); };
  const auto whole = with(input({64, 48}));
  EXPECT_THAT(plan({whole}).products, IsEmpty());
  program_ = {};
  const auto column = add(ir::Expand{{64, 48}}, {input({64, 1})});
  EXPECT_THAT(plan({add(PointwiseFn::add, {matmul(input({64, 32}), input({32, 48})), column})}).products, IsEmpty());
  program_ = {};
  const auto number = add(ir::Expand{{64, 48}}, {input({1})});
  EXPECT_THAT(plan({add(PointwiseFn::add, {matmul(input({64, 32}), input({32, 48})), number})}).products, IsEmpty());
  program_ = {};
  const auto every_other = rows_of(add(ir::Slice{{0}, {48}, {2}}, {input({96})}), 64);
  EXPECT_THAT(plan({add(PointwiseFn::add, {matmul(input({64, 32}), input({32, 48})), every_other})}).products,
              IsEmpty());
}

TEST_F(Products, AreOnlyJoinedWithSums) {
  const auto x = input({64, 32}), w = input({32, 48}), bias = input({48});
  EXPECT_THAT(plan({add(PointwiseFn::mul, {matmul(x, w), rows_of(bias, 64)})}).products, IsEmpty());
}

// The kernel of the group runs anyway.
TEST_F(Products, LeaveABiasToTheGroupThatItIsIn) {
  const auto x = input({64, 32}), w = input({32, 48}), bias = input({48});
  const auto y = add(PointwiseFn::add, {matmul(x, w), rows_of(bias, 64)});
  const auto& made = plan({add(PointwiseFn::exp, {y})});
  EXPECT_THAT(made.products, IsEmpty());
  EXPECT_THAT(made.groups, SizeIs(1));
}

TEST_F(Products, AreNotJoinedWithoutFusionOrWhereADeviceDoesNotDoIt) {
  const auto x = input({64, 32}), w = input({32, 48}), bias = input({48});
  const auto y = add(PointwiseFn::add, {matmul(x, w), rows_of(bias, 64)});
  auto made = program_;
  EXPECT_THAT(plan({y}, {.fusion = false, .epilogues = true}).products, IsEmpty());
  program_ = made;
  EXPECT_THAT(plan({y}, {}).products, IsEmpty());
}

TEST_F(Products, GiveTheSumsOfAnOperandThatIsTheBiasGradient) {
  const auto x = input({64, 32}), grad = input({64, 48});
  const auto sums = column_sums(grad), product = matmul(transposed(x), grad);
  const auto& made = plan({add(ir::Reshape{{48}}, {sums}), product});
  ASSERT_THAT(made.products, SizeIs(1));
  EXPECT_EQ(made.products[0].kind, Kind::second_sums);
  EXPECT_EQ(op(made.products[0].neighbour), "reduce");
  const auto& step = step_of(0);
  ASSERT_THAT(step.results, SizeIs(2));
  EXPECT_EQ(op(made_.node_of(step.results[0])), "matmul");
  EXPECT_EQ(op(made_.node_of(step.results[1])), "reduce");
  EXPECT_THAT(step.reads, ElementsAre(x, grad));
  EXPECT_EQ(made.last_use(grad), &step - made.steps.data());
}

// A view has no memory of its own: that it is named later does not matter. What it is a view of does.
TEST_F(Products, GiveNoSumsBeforeTheirOtherOperandIsThere) {
  const auto grad = input({64, 48});
  const auto sums = column_sums(grad);
  const auto late = add(ir::Scan{ir::ReduceFn::sum, 0},
                        {add(ir::Slice{{0, 0}, {64, 32}, {1, 1}}, {rows_of(add(ir::Reshape{{48}}, {sums}), 64)})});
  EXPECT_THAT(plan({matmul(transposed(late), grad)}).products, IsEmpty());
}

TEST_F(Products, GiveTheSumsOfTheFirstOperandWhereTheWeightIsTransposed) {
  const auto x = input({64, 32}), grad = input({64, 48});
  const auto product = matmul(transposed(grad), x);
  const auto& made = plan({column_sums(grad), product});
  ASSERT_THAT(made.products, SizeIs(1));
  EXPECT_EQ(made.products[0].kind, Kind::first_sums);
}

// The product's sums run over 64, those of the rows of its operand over 48: its gradient in x, that is.
TEST_F(Products, GiveNoSumsOverWhatTheyDoNotAddUp) {
  const auto w = input({32, 48}), grad = input({64, 48});
  EXPECT_THAT(plan({column_sums(grad), matmul(grad, transposed(w))}).products, IsEmpty());
  program_ = {};
  const auto square = input({64, 64});
  EXPECT_THAT(plan({column_sums(square), matmul(square, input({64, 64}))}).products, IsEmpty());
  program_ = {};
  const auto rows = input({64, 48});
  const auto row_sums = add(ir::Reduce{ir::ReduceFn::sum, {1}}, {rows});
  const auto largest = add(ir::Reduce{ir::ReduceFn::max, {0}}, {rows});
  EXPECT_THAT(plan({row_sums, largest, matmul(transposed(input({64, 32})), rows)}).products, IsEmpty());
}

// The product needs the sums, by way of its other operand: they cannot be one call.
TEST_F(Products, ThatWaitForTheSumsStayAsTheyAre) {
  const auto grad = input({64, 48});
  const auto sums = add(ir::Scan{ir::ReduceFn::sum, 1}, {column_sums(grad)});  // [1, 48]
  const auto other = add(ir::Slice{{0, 0}, {32, 64}, {1, 1}}, {matmul(transposed(sums), input({1, 64}))});
  EXPECT_THAT(plan({matmul(other, grad)}).products, IsEmpty());
}

TEST_F(Products, AreJoinedOnceEach) {
  const auto x = input({64, 32}), grad = input({64, 48}), bias = input({48});
  const auto first = matmul(transposed(x), grad), second = matmul(transposed(x), grad);
  const auto with_bias = add(PointwiseFn::add, {first, rows_of(bias, 32)});
  made_ = program_.finish({with_bias, second, column_sums(grad)});  // not simplified: the products are equal
  plan_ = compile::make_plan(made_, {.epilogues = true});
  ASSERT_THAT(plan_.products, SizeIs(2));
  EXPECT_EQ(plan_.products[0].kind, Kind::bias);
  EXPECT_EQ(plan_.products[1].kind, Kind::second_sums);
  EXPECT_NE(plan_.products[0].product, plan_.products[1].product);
}

TEST_F(Products, SayInAPlanWhatTheyAre) {
  const auto x = input({64, 32}), w = input({32, 48}), bias = input({48});
  const auto& made = plan({add(PointwiseFn::add, {matmul(x, w), rows_of(bias, 64)})});
  EXPECT_THAT(to_string(made, made_), ::testing::HasSubstr("= matmul with a bias"));
}

// --- on a GPU --------------------------------------------------------------------------------------------------------

std::vector<std::string> gpu_kinds() {
  std::vector<std::string> names;
  for (const auto& kind : backends::backend_kinds()) {
    if (kind.name == "cuda") names.push_back(kind.name);
  }
  return names;
}

class ProductsOnGpu : public ::testing::TestWithParam<std::string> {
 protected:
  std::vector<reference::Tensor> run(const Sample& sample) {
    auto result = run_program(device_, sample.program, sample.inputs);
    EXPECT_TRUE(result.ok()) << result.status().to_string();
    return result.ok() ? *std::move(result) : std::vector<reference::Tensor>{};
  }
  TestDevice device_{GetParam()};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ProductsOnGpu);
INSTANTIATE_TEST_SUITE_P(Backends, ProductsOnGpu, ::testing::ValuesIn(gpu_kinds()),
                         [](const auto& info) { return info.param; });

// A layer of a model: x w + bias, the gradient of w and that of the bias. Inputs of `dtype`, computed in `computed`.
Sample layer(DType dtype, DType computed, bool is_transposed) {
  constexpr std::int64_t kRows = 2048, kIn = 768, kOut = 2304;
  SampleBuilder sample(std::string(ir::name(dtype)) + " layer");  // the same name: the same numbers
  const auto input = [&](const ir::Shape& shape) {
    const auto x = sample.input({dtype, shape});
    return dtype == computed ? x : sample.add(ir::Cast{computed}, {x});
  };
  const auto x = input({kRows, kIn}), w = input({kIn, kOut}), bias = input({kOut}), grad = input({kRows, kOut});
  const auto rows = sample.add(ir::Expand{{kRows, kOut}}, {sample.add(ir::Reshape{{1, kOut}}, {bias})});
  const auto y = sample.add(ir::Pointwise{PointwiseFn::add}, {sample.add(ir::MatMul{}, {x, w}), rows});
  const auto sums = sample.add(ir::Reduce{ir::ReduceFn::sum, {0}}, {grad});
  const auto across = sample.add(ir::Permute{{1, 0}}, {is_transposed ? grad : x});
  const auto weight_grad = sample.add(ir::MatMul{}, {across, is_transposed ? x : grad});
  return sample.finish({y, weight_grad, sums});
}

TEST_P(ProductsOnGpu, WithNeighboursAreRightAtTheSizeOfAModel) {
  constexpr const char* kNames[] = {"y", "gradient of the weight", "gradient of the bias"};
  for (const auto dtype : {DType::bf16, DType::f16, DType::f32}) {
    for (const bool is_transposed : {false, true}) {
      const auto joined = run(layer(dtype, dtype, is_transposed)),
                 expected = run(layer(dtype, dtype == DType::f32 ? DType::f64 : DType::f32, is_transposed));
      ASSERT_EQ(joined.size(), expected.size());
      const double limit = dtype == DType::bf16 ? 4e-3 : dtype == DType::f16 ? 5e-4 : 2e-6;
      for (std::size_t k = 0; k < joined.size(); ++k)
        EXPECT_LT(relative_error(joined[k], expected[k]), limit) << ir::name(dtype) << ": " << kNames[k];
      const auto again = run(layer(dtype, dtype, is_transposed));
      for (std::size_t k = 0; k < joined.size(); ++k) EXPECT_EQ(again[k].bits, joined[k].bits) << kNames[k];
    }
  }
}

// y = a b + bias, where a and b may lie with rows and columns exchanged.
Sample small_product(DType computed, const ir::Shape& sizes, bool a_across, bool b_across, bool has_bias) {
  SampleBuilder sample("small product");
  const auto m = sizes[0], k = sizes[1], n = sizes[2];
  const auto input = [&](const ir::Shape& shape) {
    const auto x = sample.input({DType::f32, shape});
    return computed == DType::f32 ? x : sample.add(ir::Cast{computed}, {x});
  };
  const auto matrix = [&](std::int64_t rows, std::int64_t columns, bool is_across) {
    return is_across ? sample.add(ir::Permute{{1, 0}}, {input({columns, rows})}) : input({rows, columns});
  };
  const auto product = sample.add(ir::MatMul{}, {matrix(m, k, a_across), matrix(k, n, !b_across)});
  if (!has_bias) return sample.finish({product});
  const auto rows = sample.add(ir::Expand{{m, n}}, {sample.add(ir::Reshape{{1, n}}, {input({n})})});
  return sample.finish({sample.add(ir::Pointwise{PointwiseFn::add}, {product, rows})});
}

// Results that are few tiles of a deep product, with edges: whichever kernel is the fastest.
TEST_P(ProductsOnGpu, OfFewResultsAreRight) {
  for (const ir::Shape& sizes : {ir::Shape{64, 784, 512}, ir::Shape{64, 512, 10}, ir::Shape{33, 1000, 31},
                                 ir::Shape{2, 4096, 40}, ir::Shape{100, 65, 70}, ir::Shape{64, 512, 512}}) {
    for (int way = 0; way < 8; ++way) {
      const bool a = way & 1, b = way & 2, bias = way & 4;
      const auto got = run(small_product(DType::f32, sizes, a, b, bias));
      const auto expected = run(small_product(DType::f64, sizes, a, b, bias));
      ASSERT_EQ(got.size(), 1u);
      ASSERT_EQ(expected.size(), 1u);
      EXPECT_LT(relative_error(got[0], expected[0]), 2e-6)
          << sizes[0] << "x" << sizes[1] << "x" << sizes[2] << ", way " << way;
      EXPECT_EQ(run(small_product(DType::f32, sizes, a, b, bias))[0].bits, got[0].bits);
    }
  }
}

class Tf32 {
 public:
  Tf32() { ::setenv("BURN_TF32", "on", 1); }  // NOLINT(concurrency-mt-unsafe): no other thread reads it now
  ~Tf32() { ::unsetenv("BURN_TF32"); }        // NOLINT(concurrency-mt-unsafe)
  Tf32(const Tf32&) = delete;
  Tf32& operator=(const Tf32&) = delete;
};

// Ten bits of mantissa are asked for, and are not there unless they are.
TEST_P(ProductsOnGpu, AndConvolutionsTakeTenBitsWhereThatIsAskedFor) {
  SampleBuilder product("product"), conv("convolution");
  const auto a = product.input({DType::f32, {512, 512}}), b = product.input({DType::f32, {512, 512}});
  const auto x = conv.input({DType::f32, {8, 64, 32, 32}}), w = conv.input({DType::f32, {64, 64, 3, 3}});
  const auto product_sample = product.finish({product.add(ir::MatMul{}, {a, b})});
  const ir::Conv same{.stride = {1, 1}, .pad_begin = {1, 1}, .pad_end = {1, 1}, .dilation = {1, 1}};
  const auto conv_sample = conv.finish({conv.add(same, {x, w})});
  for (const auto* sample : {&product_sample, &conv_sample}) {
    const auto exact = run(*sample);
    std::vector<reference::Tensor> rough;
    {
      const Tf32 on;
      rough = run(*sample);
    }
    ASSERT_EQ(exact.size(), 1u);
    ASSERT_EQ(rough.size(), 1u);
    const auto error = relative_error(rough[0], exact[0]);
    EXPECT_LT(error, 2e-3) << sample->name;
    if (sample == &product_sample) {
      EXPECT_GT(error, 1e-5) << "it was not used";
    }
    EXPECT_EQ(run(*sample)[0].bits, exact[0].bits) << sample->name;
  }
}

}  // namespace
}  // namespace burn::testing
