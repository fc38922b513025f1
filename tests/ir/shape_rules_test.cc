#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/op.h"
#include "tests/ir/samples.h"

namespace burn::ir {
namespace {

using testing::HasSubstr;

constexpr auto f32 = DType::f32;
constexpr auto kHuge = std::numeric_limits<std::int64_t>::max();
constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();

// cast C1; commit C1
TEST(ShapeRules, EverySampleHasTheResultItNames) {
  for (const auto& sample : samples()) {
    EXPECT_EQ(inferred(sample.op, sample.operands), to_string(std::span{sample.results})) << to_string(sample.op);
  }
}

// all C1; commit C1; concat C1
TEST(ShapeRules, EveryOpRejectsTooFewAndTooManyOperands) {
  for (const auto& sample : samples()) {
    const auto takes = HasSubstr(std::string{name(sample.op)} + ": takes ");
    if (!sample.operands.empty()) {
      EXPECT_THAT(inferred(sample.op, {}), takes);
    }
    if (std::holds_alternative<Concat>(sample.op)) continue;  // takes any number
    auto operands = sample.operands;
    const bool has_optional =
        std::holds_alternative<Attention>(sample.op) || std::holds_alternative<AttentionGrad>(sample.op);
    operands.push_back({f32, {2, 3}});
    if (!has_optional) {
      EXPECT_THAT(inferred(sample.op, operands), takes);
    }
    operands.resize(5000, {f32, {2, 3}});
    EXPECT_THAT(inferred(sample.op, operands), takes);
  }
}

// constant C1, C2, C3; scalar C1; iota C1, C2; random C1, C2, C5; all C2
TEST(ShapeRules, SourcesCheckTheirNumbers) {
  EXPECT_EQ(inferred(Iota{DType::i64, 0}, {}), "i64[0]");
  EXPECT_THAT(inferred(Iota{DType::i64, -1}, {}), HasSubstr("iota: [-1] is no shape"));
  EXPECT_THAT(inferred(Iota{DType::i64, kHuge}, {}), HasSubstr("too many elements"));
  EXPECT_THAT(inferred(Iota{DType::bool_, 2}, {}), HasSubstr("not bools"));
  EXPECT_THAT(inferred(Random{RandomFn::uniform, DType::i32, {2}, 0}, {}),
              HasSubstr("random: uniform gives f32 or f64, not i32"));
  EXPECT_THAT(inferred(Random{RandomFn::normal, DType::f16, {2}, 0}, {}),
              HasSubstr("random: normal gives f32 or f64, not f16"));
  EXPECT_THAT(inferred(Random{RandomFn::bits, f32, {2}, 0}, {}), HasSubstr("random: bits gives u64, not f32"));
  EXPECT_THAT(inferred(Random{RandomFn::uniform, f32, {kHuge, kHuge}, 0}, {}), HasSubstr("too many elements"));
  EXPECT_THAT(inferred(Random{RandomFn::uniform, f32, {2}, -1}, {}), HasSubstr("offset -1"));
  EXPECT_THAT(inferred(Scalar{f32, -1}, {}), HasSubstr("slot -1"));
  EXPECT_THAT(inferred(Constant{DType::bool_, 2}, {}), HasSubstr("2 is no bool"));
  EXPECT_THAT(inferred(Constant{f32, 1, 0}, {}), HasSubstr("f32 is no float's number"));
  EXPECT_THAT(inferred(Constant{DType::i32, 1, -0.0}, {}), HasSubstr("i32 is no whole number's real"));
}

// random C3, C4, C5
TEST(ShapeRules, ARandomBoxLiesInItsWhole) {
  const auto box = [](Shape shape, Shape whole, Dims starts) {
    return inferred(Random{RandomFn::uniform, f32, shape, 0, whole, starts}, {});
  };
  EXPECT_EQ(box({2, 3}, {4, 5}, {2, 2}), "f32[2, 3]");
  EXPECT_EQ(box({0, 3}, {4, 5}, {4, 2}), "f32[0, 3]");
  EXPECT_EQ(box({2, 3}, {}, {0, 0}), "f32[2, 3]");
  EXPECT_EQ(box({}, {}, {}), "f32[]");
  EXPECT_THAT(box({2, 3}, {4, 5}, {3, 2}), HasSubstr("random: [2, 3] from [3, 2] is no box of [4, 5]"));
  EXPECT_THAT(box({2, 3}, {4, 5}, {}), HasSubstr("no box"));
  EXPECT_THAT(box({2, 3}, {4}, {0}), HasSubstr("no box"));
  EXPECT_THAT(box({2, 3}, {}, {0, 1}), HasSubstr("no box"));
  EXPECT_THAT(box({2}, {4}, {-1}), HasSubstr("no box"));
  EXPECT_THAT(box({-1}, {4}, {0}), HasSubstr("no box"));
  EXPECT_THAT(box({2}, {4}, {kHuge}), HasSubstr("no box"));
  EXPECT_THAT(box({kHuge}, {4}, {1}), HasSubstr("no box"));
  EXPECT_THAT(box({1, 1}, {kHuge, kHuge}, {0, 0}), HasSubstr("too many elements"));
}

TEST(ShapeRules, PointwiseOperandsHaveOneShapeOrRankZero) {
  const Op add = Pointwise{PointwiseFn::add};
  EXPECT_EQ(inferred(add, {{f32, {2, 3}}, {f32, {}}}), "f32[2, 3]");
  EXPECT_EQ(inferred(add, {{f32, {}}, {f32, {2, 3}}}), "f32[2, 3]");
  EXPECT_EQ(inferred(add, {{f32, {}}, {f32, {}}}), "f32[]");
  EXPECT_EQ(inferred(add, {{f32, {2, 3}}, {f32, {3}}}), "add: shapes differ: f32[2, 3], f32[3]");
  EXPECT_EQ(inferred(add, {{f32, {2, 3}}, {f32, {2, 1}}}), "add: shapes differ: f32[2, 3], f32[2, 1]");
  const Op select = Pointwise{PointwiseFn::select};
  EXPECT_EQ(inferred(select, {{DType::bool_, {}}, {f32, {2}}, {f32, {}}}), "f32[2]");
  EXPECT_EQ(inferred(select, {{DType::bool_, {2}}, {f32, {}}, {f32, {}}}), "f32[2]");
  EXPECT_THAT(inferred(select, {{DType::bool_, {2}}, {f32, {}}, {f32, {3}}}), HasSubstr("shapes differ"));
}

TEST(ShapeRules, PointwiseClassesDecideTheDtypes) {
  const auto of = [](PointwiseFn fn, std::vector<DType> dtypes) {
    std::vector<TensorType> operands;
    for (const auto dtype : dtypes) operands.push_back({dtype, {2}});
    return inferred(Pointwise{fn}, operands);
  };
  const auto i32 = DType::i32, yes = DType::bool_;
  EXPECT_EQ(of(PointwiseFn::add, {i32, i32}), "i32[2]");
  EXPECT_EQ(of(PointwiseFn::add, {i32, f32}), "add: takes numbers of one dtype, got i32[2], f32[2]");
  EXPECT_THAT(of(PointwiseFn::add, {yes, yes}), HasSubstr("takes numbers"));
  EXPECT_THAT(of(PointwiseFn::exp, {i32}), HasSubstr("exp: takes floats of one dtype, got i32[2]"));
  EXPECT_THAT(of(PointwiseFn::bitwise_and, {f32, f32}), HasSubstr("takes whole numbers"));
  EXPECT_THAT(of(PointwiseFn::bitwise_not, {yes}), HasSubstr("takes whole numbers"));
  EXPECT_THAT(of(PointwiseFn::bool_and, {i32, i32}), HasSubstr("takes bools"));
  EXPECT_EQ(of(PointwiseFn::equal, {yes, yes}), "bool[2]");
  EXPECT_EQ(of(PointwiseFn::lower, {i32, i32}), "bool[2]");
  EXPECT_THAT(of(PointwiseFn::lower, {i32, DType::i64}), HasSubstr("takes operands of one dtype"));
  EXPECT_EQ(of(PointwiseFn::is_nan, {DType::bf16}), "bool[2]");
  EXPECT_THAT(of(PointwiseFn::is_nan, {i32}), HasSubstr("takes floats"));
  EXPECT_EQ(of(PointwiseFn::select, {yes, yes, yes}), "bool[2]");
  EXPECT_THAT(of(PointwiseFn::select, {f32, f32, f32}), HasSubstr("takes a bool and"));
  EXPECT_THAT(of(PointwiseFn::select, {yes, f32, i32}), HasSubstr("takes a bool and"));
}

// reduce C1, C2
TEST(ShapeRules, ReduceKeepsItsAxesWithSizeOne) {
  const TensorType x{f32, {2, 3, 4}};
  EXPECT_EQ(inferred(Reduce{ReduceFn::sum, {}}, {x}), "f32[2, 3, 4]");
  EXPECT_EQ(inferred(Reduce{ReduceFn::max, {0, 1, 2}}, {x}), "f32[1, 1, 1]");
  EXPECT_THAT(inferred(Reduce{ReduceFn::sum, {3}}, {x}), HasSubstr("reduce: axis 3 is out of range for f32[2, 3, 4]"));
  EXPECT_THAT(inferred(Reduce{ReduceFn::sum, {-1}}, {x}), HasSubstr("axis -1"));
  EXPECT_THAT(inferred(Reduce{ReduceFn::sum, {kHuge}}, {x}), HasSubstr("out of range"));
  EXPECT_THAT(inferred(Reduce{ReduceFn::sum, {1, 0}}, {x}), HasSubstr("not sorted and unique"));
  EXPECT_THAT(inferred(Reduce{ReduceFn::sum, {1, 1}}, {x}), HasSubstr("not sorted and unique"));
}

// reduce C3; scan C2; arg_reduce C2
TEST(ShapeRules, BoolsReduceByAnyAndAllOnly) {
  const TensorType x{DType::bool_, {2, 3}};
  EXPECT_EQ(inferred(Reduce{ReduceFn::max, {1}}, {x}), "bool[2, 1]");
  EXPECT_EQ(inferred(Scan{ReduceFn::min, 1}, {x}), "bool[2, 3]");
  EXPECT_THAT(inferred(Reduce{ReduceFn::sum, {1}}, {x}), HasSubstr("reduce: sum takes numbers"));
  EXPECT_THAT(inferred(Scan{ReduceFn::prod, 1}, {x}), HasSubstr("scan: prod takes numbers"));
  EXPECT_THAT(inferred(ArgReduce{ArgFn::max, 1}, {x}), HasSubstr("takes numbers"));
}

// reduce C4; arg_reduce C3
TEST(ShapeRules, NothingIsTheLargestOfNothing) {
  const TensorType empty{f32, {2, 0}};
  EXPECT_EQ(inferred(Reduce{ReduceFn::sum, {1}}, {empty}), "f32[2, 1]");
  EXPECT_THAT(inferred(Reduce{ReduceFn::max, {1}}, {empty}), HasSubstr("no elements to choose from"));
  EXPECT_THAT(inferred(ArgReduce{ArgFn::min, 1}, {empty}), HasSubstr("no elements to choose from"));
  EXPECT_EQ(inferred(Reduce{ReduceFn::max, {0}}, {empty}), "f32[1, 0]");
  EXPECT_EQ(inferred(ArgReduce{ArgFn::min, 0}, {empty}), "i64[1, 0]");
  EXPECT_EQ(inferred(Reduce{ReduceFn::max, {1}}, {{DType::bool_, {2, 0}}}), "bool[2, 1]");
}

// scan C1; arg_reduce C1; sort C1
TEST(ShapeRules, AxesMustExist) {
  for (const std::int64_t axis : {std::int64_t{2}, std::int64_t{-1}, kHuge, kLeast}) {
    const TensorType x{f32, {2, 3}};
    EXPECT_THAT(inferred(Scan{ReduceFn::sum, axis}, {x}), HasSubstr("out of range"));
    EXPECT_THAT(inferred(ArgReduce{ArgFn::max, axis}, {x}), HasSubstr("out of range"));
    EXPECT_THAT(inferred(Sort{axis, false}, {x}), HasSubstr("out of range"));
  }
  EXPECT_THAT(inferred(Scan{ReduceFn::sum, 0}, {{f32, {}}}), HasSubstr("out of range"));
}

// top_k C1, C2
TEST(ShapeRules, TopKTakesNoMoreThanThereIs) {
  const TensorType x{f32, {2, 3}};
  EXPECT_EQ(inferred(TopK{1, 3}, {x}), "f32[2, 3], i64[2, 3]");
  EXPECT_EQ(inferred(TopK{0, 0}, {x}), "f32[0, 3], i64[0, 3]");
  EXPECT_EQ(inferred(TopK{1, 4}, {x}), "top_k: 4 of the 3 elements along axis 1 of f32[2, 3]");
  EXPECT_EQ(inferred(TopK{1, -1}, {x}), "top_k: -1 of the 3 elements along axis 1 of f32[2, 3]");
  EXPECT_THAT(inferred(TopK{2, 1}, {x}), HasSubstr("out of range"));
}

// matmul C1, C2, C3, C4, C5; all C2
TEST(ShapeRules, MatmulNamesWhatDiffers) {
  const auto of = [](TensorType lhs, TensorType rhs) { return inferred(MatMul{}, {lhs, rhs}); };
  EXPECT_EQ(of({f32, {2, 3}}, {f32, {4, 5}}), "matmul: inner sizes differ: lhs f32[2, 3], rhs f32[4, 5] (3 and 4)");
  EXPECT_THAT(of({f32, {2, 3}}, {f32, {1, 3, 5}}), HasSubstr("matmul: ranks differ"));
  EXPECT_THAT(of({f32, {7, 2, 3}}, {f32, {1, 3, 5}}), HasSubstr("matmul: batch sizes differ"));
  EXPECT_THAT(of({f32, {3}}, {f32, {3}}), HasSubstr("takes matrices"));
  EXPECT_THAT(of({f32, {}}, {f32, {}}), HasSubstr("takes matrices"));
  EXPECT_THAT(of({f32, {2, 3}}, {DType::f64, {3, 5}}), HasSubstr("one dtype"));
  EXPECT_THAT(of({DType::bool_, {2, 3}}, {DType::bool_, {3, 5}}), HasSubstr("takes numbers"));
  EXPECT_EQ(of({DType::i32, {2, 3}}, {DType::i32, {3, 5}}), "i32[2, 5]");
  EXPECT_EQ(of({f32, {2, 0}}, {f32, {0, 5}}), "f32[2, 5]");
  const std::int64_t large = std::int64_t{1} << 40;
  EXPECT_THAT(of({f32, {large, 1}}, {f32, {1, large}}), HasSubstr("too many elements"));
}

// all_reduce C1, C2; reduce_scatter C1, C2, C3, C4
TEST(ShapeRules, CollectivesThatCombineTakeWholeValues) {
  const TensorType x{f32, {2, 3}}, flags{DType::bool_, {2, 3}};
  EXPECT_THAT(inferred(AllReduce{ReduceFn::sum, -1}, {x}), HasSubstr("there is no group -1"));
  EXPECT_THAT(inferred(AllReduce{ReduceFn::sum}, {flags}), HasSubstr("all_reduce: sum takes numbers"));
  EXPECT_EQ(inferred(AllReduce{ReduceFn::max}, {flags}), "bool[2, 3]");
  EXPECT_THAT(inferred(ReduceScatter{ReduceFn::sum, 1, {1, 2}, 0, -1}, {x}), HasSubstr("there is no group -1"));
  EXPECT_THAT(inferred(ReduceScatter{ReduceFn::prod, 1, {1, 2}}, {flags}), HasSubstr("prod takes numbers"));
  EXPECT_THAT(inferred(ReduceScatter{ReduceFn::sum, 1, {}}, {x}), HasSubstr("sizes of parts are missing"));
  EXPECT_THAT(inferred(ReduceScatter{ReduceFn::sum, 1, {1, 2}, 2}, {x}), HasSubstr("no member 2 of 2"));
  EXPECT_THAT(inferred(ReduceScatter{ReduceFn::sum, 1, {1, 2}, -1}, {x}), HasSubstr("no member -1 of 2"));
  EXPECT_THAT(inferred(ReduceScatter{ReduceFn::sum, 1, {4, -1}}, {x}), HasSubstr("less than no elements"));
  EXPECT_THAT(inferred(ReduceScatter{ReduceFn::sum, 1, {kHuge, 1}}, {x}), HasSubstr("too large together"));
  EXPECT_THAT(inferred(ReduceScatter{ReduceFn::sum, 2, {1, 2}}, {x}), HasSubstr("out of range"));
  EXPECT_EQ(inferred(ReduceScatter{ReduceFn::sum, 1, {2, 2}}, {x}),
            "reduce_scatter: the whole value has 4 elements along dim 1, got f32[2, 3]");
  EXPECT_EQ(inferred(ReduceScatter{ReduceFn::sum, 1, {3, 0}, 1}, {x}), "f32[2, 0]");
}

// all_gather C1, C2, C3; all_to_all C1, C2, C3, C4
TEST(ShapeRules, CollectivesThatMoveTakeTheMembersPart) {
  const TensorType x{f32, {2, 3}};
  EXPECT_THAT(inferred(AllGather{1, {3, 1}, 0, -1}, {x}), HasSubstr("there is no group -1"));
  EXPECT_THAT(inferred(AllGather{1, {3, 1}, 2}, {x}), HasSubstr("no member 2 of 2"));
  EXPECT_EQ(inferred(AllGather{1, {3, 1}, 1}, {x}),
            "all_gather: the member's part has 1 elements along dim 1, got f32[2, 3]");
  EXPECT_THAT(inferred(AllGather{1, {3, kHuge - 3}}, {x}), HasSubstr("too many elements"));
  EXPECT_THAT(inferred(AllToAll{0, {2, 1}, 1, {1, 2}, 0, -1}, {x}), HasSubstr("there is no group -1"));
  EXPECT_THAT(inferred(AllToAll{0, {2, 1}, 1, {1, 1, 1}}, {x}), HasSubstr("2 members give and 3 take"));
  EXPECT_THAT(inferred(AllToAll{0, {1, 2}, 1, {1, 2}}, {x}), HasSubstr("the member's part has 1 elements along dim 0"));
  EXPECT_THAT(inferred(AllToAll{0, {2, 1}, 1, {1, 1}}, {x}), HasSubstr("the whole value has 2 elements along dim 1"));
  EXPECT_EQ(inferred(AllToAll{0, {2, 1}, 1, {1, 2}}, {x}), "f32[3, 1]");
  EXPECT_EQ(inferred(AllToAll{0, {2, 1}, 0, {1, 2}}, {x}), "f32[1, 3]");
  EXPECT_THAT(inferred(AllToAll{0, {2, 1}, 0, {1, 1}}, {x}), HasSubstr("parts of 3 elements become parts of 2"));
}

}  // namespace
}  // namespace burn::ir
