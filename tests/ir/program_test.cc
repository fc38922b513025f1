#include "ir/program.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ir/samples.h"

namespace burn::ir {
namespace {

using testing::HasSubstr;

constexpr auto kAdd = Pointwise{PointwiseFn::add};
constexpr auto kMul = Pointwise{PointwiseFn::mul};

Ref add(ProgramBuilder& builder, const Op& op, std::vector<Ref> operands, CallSite site = {}) {
  const auto ref = builder.add(op, operands, site);
  EXPECT_TRUE(ref.ok()) << ref.status().to_string();
  return *ref;
}

Program written(const std::function<std::vector<Ref>(ProgramBuilder&)>& body) {
  ProgramBuilder builder;
  auto outputs = body(builder);
  EXPECT_TRUE(builder.check_outputs(outputs).ok());
  return builder.finish(std::move(outputs));
}

// out = relu(x w + 1), with x donated.
Program layer(CallSite site = {}) {
  return written([&](ProgramBuilder& b) {
    const Ref x = b.add_input({DType::f32, {2, 3}}), w = b.add_input({DType::f32, {3, 5}});
    const Ref product = add(b, MatMul{}, {x, w}, site);
    const Ref one = b.add_scalar(DType::f32);
    const Ref sum = add(b, kAdd, {product, one}, site);
    b.donate(0);
    return std::vector{add(b, Pointwise{PointwiseFn::relu}, {sum}, site)};
  });
}

TEST(Program, PrintsOneLinePerInputAndNode) {
  EXPECT_EQ(to_string(layer({"/home/me/src/model.cc", 41})),
            "in0 : f32[2, 3]  donated\n"
            "in1 : f32[3, 5]\n"
            "%0 = matmul in0, in1 : f32[2, 5]  ; model.cc:41\n"
            "%1 = scalar(dtype=f32, slot=0) : f32[]\n"
            "%2 = add %0, %1 : f32[2, 5]  ; model.cc:41\n"
            "%3 = relu %2 : f32[2, 5]  ; model.cc:41\n"
            "outputs %3\n");
}

TEST(Program, CallSitesPrintWithoutTheirFolder) {
  EXPECT_EQ(to_string(CallSite{"a/b/model.cc", 7}), "model.cc:7");
  EXPECT_EQ(to_string(CallSite{"c:\\b\\model.cc", 7}), "model.cc:7");
  EXPECT_EQ(to_string(CallSite{"model.cc", 7}), "model.cc:7");
  EXPECT_EQ(to_string(CallSite{}), "");
}

TEST(Program, HashesEqualWhereOnlyCallSitesDiffer) {
  const auto a = layer({"a.cc", 1}), b = layer({"b.cc", 2});
  EXPECT_EQ(a.hash, b.hash);
  EXPECT_TRUE(same(a, b));
  EXPECT_EQ(to_string(a.hash).size(), 32u);
}

TEST(Program, ABuilderStartsAnewAfterFinish) {
  ProgramBuilder builder;
  const auto record = [&] {
    const Ref x = builder.add_input({DType::f32, {2}});
    const Ref scale = builder.add_scalar(DType::f32);
    const Ref noise = *builder.add_random({.shape = {2}});
    const Ref scaled = add(builder, kMul, {x, scale});
    return builder.finish({add(builder, kAdd, {scaled, noise})});
  };
  const auto first = record();
  EXPECT_TRUE(builder.empty());
  const auto second = record();
  EXPECT_EQ(first.hash, second.hash);
  EXPECT_TRUE(same(first, second));
  EXPECT_EQ(second.scalar_count, 1);
  EXPECT_EQ(second.random_blocks, 1);
}

TEST(Program, HashesDifferWhereAnythingMattersDiffers) {
  struct Variant {
    Shape shape = {2, 2};
    bool donated = false, swapped = false, other_op = false, other_output = false, more_inputs = false, again = false;
  };
  const auto make = [](const Variant& v) {
    return written([&](ProgramBuilder& b) {
      const Ref x = b.add_input({DType::f32, v.shape}), y = b.add_input({DType::f32, v.shape});
      if (v.more_inputs) b.add_input({DType::f32, {}});
      if (v.donated) b.donate(1);
      const Ref first = add(b, v.other_op ? kMul : kAdd, v.swapped ? std::vector{y, x} : std::vector{x, y});
      const std::array operands{first, first};
      const Ref last = *b.add(kAdd, operands, {}, v.again);
      return std::vector{v.other_output ? first : last};
    });
  };
  const std::vector<Program> all = {
      make({}),
      make({.shape = {2, 3}}),
      make({.shape = {2, 2, 1}}),
      make({.donated = true}),
      make({.swapped = true}),
      make({.other_op = true}),
      make({.other_output = true}),
      make({.more_inputs = true}),
      make({.again = true}),
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < all.size(); ++j) {
      EXPECT_EQ(all[i].hash == all[j].hash, i == j) << i << " and " << j;
      EXPECT_EQ(same(all[i], all[j]), i == j) << i << " and " << j;
    }
  }
}

TEST(Program, EveryNodeOfALongProgramCountsInTheHash) {
  constexpr std::size_t kNodes = 5000;  // several blocks of what is hashed together
  const auto make = [](std::size_t odd_one) {
    return written([&](ProgramBuilder& b) {
      Ref x = b.add_input({DType::f32, {2}});
      for (std::size_t i = 0; i < kNodes; ++i) x = add(b, i == odd_one ? kMul : kAdd, {x, x});
      return std::vector{x};
    });
  };
  const auto plain = make(kNodes);
  EXPECT_EQ(plain.hash, make(kNodes).hash);
  for (const std::size_t odd_one : {0u, 1u, 700u, 2500u, 4999u}) EXPECT_NE(plain.hash, make(odd_one).hash) << odd_one;
}

TEST(Program, ManyOperandsAllCountInTheHash) {
  const auto make = [](std::size_t odd_one) {
    return written([&](ProgramBuilder& b) {
      const Ref x = b.add_input({DType::f32, {2}}), y = b.add_input({DType::f32, {2}});
      std::vector<Ref> operands(100, x);
      operands[odd_one] = y;
      return std::vector{add(b, Concat{0}, operands)};
    });
  };
  const auto a = make(3), b = make(99);
  EXPECT_EQ(a.values[0].type.shape, Shape{200});
  EXPECT_NE(a.hash, b.hash);
  EXPECT_EQ(a.hash, make(3).hash);
}

TEST(ProgramBuilder, AddsEverySample) {
  for (const auto& sample : samples()) {
    ProgramBuilder builder;
    std::vector<Ref> operands;
    operands.reserve(sample.operands.size());
    for (const auto& type : sample.operands) operands.push_back(builder.add_input(type));
    const Ref ref = add(builder, sample.op, operands);
    ASSERT_EQ(builder.program().values.size(), sample.results.size());
    for (std::size_t k = 0; k < sample.results.size(); ++k)
      EXPECT_EQ(builder.type_of(ref.result(static_cast<int>(k))), sample.results[k]);
  }
}

TEST(ProgramBuilder, NumbersTheResultsOfAllNodesInOrder) {
  ProgramBuilder builder;
  const Ref x = builder.add_input({DType::f32, {2, 3}});
  const Ref sorted = add(builder, Sort{1}, {x});
  const Ref y = add(builder, kAdd, {sorted, x});
  EXPECT_EQ(sorted, Ref::value(0));
  EXPECT_EQ(y, Ref::value(2));
  EXPECT_EQ(builder.type_of(sorted.result(1)), (TensorType{DType::i64, {2, 3}}));
  EXPECT_EQ(builder.program().node_of(sorted.result(1)), 0);
  EXPECT_EQ(builder.program().node_of(y), 1);
  EXPECT_FALSE(builder.add(kAdd, std::vector{sorted, sorted.result(1)}).ok()) << "the indices are no floats";
  EXPECT_TRUE(builder.check_outputs(std::vector{sorted.result(1), y, sorted}).ok());
  const auto program = builder.finish({sorted.result(1), y});
  EXPECT_EQ(to_string(program),
            "in0 : f32[2, 3]\n"
            "%0, %1 = sort(axis=1, descending=false) in0 : f32[2, 3], i64[2, 3]\n"
            "%2 = add %0, in0 : f32[2, 3]\n"
            "outputs %1, %2\n");
}

TEST(ProgramBuilder, ARandomBoxTakesTheNumbersOfItsWhole) {
  ProgramBuilder builder;
  EXPECT_TRUE(builder.add_random({.shape = {2, 3}, .whole = {4, 5}, .starts = {1, 1}}).ok());
  EXPECT_EQ(builder.program().random_blocks, 5);
}

TEST(ProgramBuilder, RejectsOperandsThatDoNotExistAndStaysAsItWas) {
  ProgramBuilder builder;
  const Ref x = builder.add_input({DType::f32, {2}});
  for (const Ref bad : {Ref::value(0), Ref::input(1), Ref::from_code(INT32_MIN), Ref::from_code(INT32_MAX)}) {
    const auto result = builder.add(kAdd, std::vector{x, bad});
    EXPECT_EQ(result.status().code(), StatusCode::invalid_argument);
    EXPECT_THAT(result.status().message(), HasSubstr("add: there is no operand"));
  }
  EXPECT_FALSE(builder.add(kAdd, std::vector{x}).ok());
  EXPECT_TRUE(builder.empty());
  EXPECT_TRUE(builder.program().operands.empty());
}

TEST(ProgramBuilder, SlotsAndRandomOffsetsComeInOrder) {
  ProgramBuilder builder;
  EXPECT_FALSE(builder.add(Scalar{DType::f32, 1}, {}).ok());
  EXPECT_TRUE(builder.add(Scalar{DType::f32, 0}, {}).ok());
  EXPECT_FALSE(builder.add(Scalar{DType::f32, 0}, {}).ok());
  EXPECT_EQ(builder.program().scalar_count, 1);
  EXPECT_EQ(builder.program().values.size(), 1u);

  EXPECT_TRUE(builder.add(Random{RandomFn::uniform, DType::f32, {5}, 0}, {}).ok());  // two blocks
  EXPECT_FALSE(builder.add(Random{RandomFn::uniform, DType::f32, {5}, 1}, {}).ok());
  EXPECT_TRUE(builder.add(Random{RandomFn::normal, DType::f32, {4}, 2}, {}).ok());
  EXPECT_EQ(builder.program().random_blocks, 3);
}

TEST(ProgramBuilder, TheRandomStreamDoesNotOverflow) {
  ProgramBuilder builder;
  const Shape largest{std::int64_t{1} << 59};
  Status status;
  for (int i = 0; i < 100 && status.ok(); ++i) {
    status = builder.add_random({.dtype = DType::f64, .shape = largest}).status();
  }
  EXPECT_EQ(status.code(), StatusCode::resource_exhausted);
  EXPECT_EQ(builder.program().random_blocks, ProgramBuilder::kMaxRandomBlocks);
}

TEST(ProgramBuilder, OutputsAreResultsOfNodesEachOnce) {
  ProgramBuilder builder;
  const Ref x = builder.add_input({DType::f32, {2}});
  const Ref y = add(builder, kAdd, {x, x});
  EXPECT_TRUE(builder.check_outputs({}).ok());
  EXPECT_TRUE(builder.check_outputs(std::vector{y}).ok());
  EXPECT_FALSE(builder.check_outputs(std::vector{y, y}).ok());
  EXPECT_FALSE(builder.check_outputs(std::vector{x}).ok());
  EXPECT_FALSE(builder.check_outputs(std::vector{Ref::value(1)}).ok());
  EXPECT_FALSE(builder.check_outputs(std::vector{Ref::from_code(INT32_MIN)}).ok());
}

}  // namespace
}  // namespace burn::ir
