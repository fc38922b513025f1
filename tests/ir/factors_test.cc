#include "ir/factors.h"

#include <gtest/gtest.h>

#include "tests/ir/samples.h"

namespace burn::ir {
namespace {

Factors factors_of(const Op& op, const std::vector<TensorType>& operands, const std::vector<TensorType>& results) {
  std::vector<const TensorType*> in, out;
  for (const auto& type : operands) in.push_back(&type);
  for (const auto& type : results) out.push_back(&type);
  return factors(op, in, out);
}

std::string text_of(const Op& op, const std::vector<TensorType>& operands) {
  const auto types = infer_types(op, operands);
  return to_string(factors_of(op, operands, {types->begin(), types->end()}));
}

TensorType f32(const Shape& shape) { return {DType::f32, shape}; }

// Whether the sizes of a dim's factors multiply to the dim's size, or no factor is in it and it is whole.
template <typename DimOf>
bool fits_size(const Factors& factors, int dim, std::int64_t size, const DimOf& dim_of) {
  std::int64_t product = 1;
  bool has_any = false;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (dim_of(f) != dim) continue;
    product *= factors[f].size;
    has_any = true;
  }
  return !has_any || product == size;
}

TEST(Factors, MakeUpTheDimsOfEverySample) {
  for (const auto& sample : samples()) {
    SCOPED_TRACE(to_string(sample.op));
    const auto factors = factors_of(sample.op, sample.operands, sample.results);
    ASSERT_EQ(factors.operand_count(), sample.operands.size());
    ASSERT_EQ(factors.result_count(), sample.results.size());
    for (std::size_t i = 0; i < sample.operands.size(); ++i) {
      const auto& shape = sample.operands[i].shape;
      for (int dim = 0; dim < shape.rank(); ++dim)
        EXPECT_TRUE(fits_size(factors, dim, shape[dim], [&](std::size_t f) { return factors.operand_dim(f, i); }));
    }
    for (std::size_t k = 0; k < sample.results.size(); ++k) {
      const auto& shape = sample.results[k].shape;
      for (int dim = 0; dim < shape.rank(); ++dim)
        EXPECT_TRUE(fits_size(factors, dim, shape[dim], [&](std::size_t f) { return factors.result_dim(f, k); }));
    }
  }
}

TEST(Factors, OfAKindLieInAllResultsOrInNone) {
  for (const auto& sample : samples()) {
    SCOPED_TRACE(to_string(sample.op));
    const auto factors = factors_of(sample.op, sample.operands, sample.results);
    for (std::size_t f = 0; f < factors.size(); ++f) {
      for (std::size_t k = 0; k < sample.results.size(); ++k) {
        const auto kind = factors[f].kind;
        if (kind == FactorKind::whole) continue;
        EXPECT_EQ(factors.result_dim(f, k) >= 0, kind == FactorKind::map) << to_string(factors);
      }
    }
  }
}

TEST(Factors, OfAProductAreItsRowsColumnsAndInnerDim) {
  EXPECT_EQ(text_of(MatMul{}, {f32({5, 2, 3}), f32({5, 3, 4})}),
            "map 5 in0.0 in1.0 out0.0; map 2 in0.1 out0.1; sum 3 in0.2 in1.1; map 4 in1.2 out0.2");
}

TEST(Factors, OfAReshapeAreWhatDimsHaveInCommon) {
  const auto reshaped = [](const Shape& from, const Shape& to) { return text_of(Reshape{to}, {f32(from)}); };
  EXPECT_EQ(reshaped({6, 4}, {24}), "map 6 in0.0 out0.0; map 4 in0.1 out0.0");
  EXPECT_EQ(reshaped({24}, {6, 4}), "map 6 in0.0 out0.0; map 4 in0.0 out0.1");
  EXPECT_EQ(reshaped({6, 4}, {4, 6}),
            "map 2 in0.0 out0.0; whole 3 in0.0; whole 4 in0.1; whole 2 out0.0; whole 6 out0.1");
  EXPECT_EQ(reshaped({2, 3, 5}, {3, 2, 5}),
            "map 5 in0.2 out0.2; whole 2 in0.0; whole 3 in0.1; whole 3 out0.0; whole 2 out0.1");
  EXPECT_EQ(reshaped({3, 1, 2}, {3, 2}), "map 3 in0.0 out0.0; map 2 in0.2 out0.1");
  EXPECT_EQ(reshaped({0, 4}, {0, 7}), "map 0 in0.0 out0.0; whole 4 in0.1; whole 7 out0.1");
  EXPECT_EQ(reshaped({2, 0}, {0, 5}), "whole 2 in0.0; whole 0 in0.1; whole 0 out0.0; whole 5 out0.1");
  EXPECT_EQ(reshaped({1}, {}), "");
}

TEST(Factors, OfASliceAreTheDimsThatItTakesInFull) {
  EXPECT_EQ(text_of(Slice{{0, 1}, {4, 2}, {1, 1}}, {f32({4, 5})}), "map 4 in0.0 out0.0; whole 5 in0.1; whole 2 out0.1");
  EXPECT_EQ(text_of(Slice{{3, 0}, {4, 5}, {-1, 1}}, {f32({4, 5})}),
            "whole 4 in0.0; whole 4 out0.0; map 5 in0.1 out0.1");
}

TEST(Factors, OfAReductionAreCombinedByItsFunction) {
  EXPECT_EQ(text_of(Reduce{ReduceFn::max, {1}}, {f32({4, 5})}), "map 4 in0.0 out0.0; max 5 in0.1");
}

TEST(Factors, OfAConvolutionWithGroupsKeepChannelsWhole) {
  const Conv alone{{1}, {0}, {0}, {1}, 1}, grouped{{1}, {0}, {0}, {1}, 2};
  EXPECT_EQ(text_of(alone, {f32({2, 4, 9}), f32({6, 4, 3})}),
            "map 2 in0.0 out0.0; sum 4 in0.1 in1.1; whole 9 in0.2; map 6 in1.0 out0.1; whole 3 in1.2; whole 7 out0.2");
  EXPECT_EQ(text_of(grouped, {f32({2, 4, 9}), f32({6, 2, 3})}),
            "map 2 in0.0 out0.0; whole 4 in0.1; whole 9 in0.2; whole 6 in1.0; whole 2 in1.1; whole 3 in1.2; whole 6 "
            "out0.1; whole 7 out0.2");
}

TEST(Factors, OfACausalAttentionKeepQueriesWhole) {
  const std::vector<TensorType> operands{f32({2, 3, 4}), f32({2, 5, 4}), f32({2, 5, 6})};
  const auto queries = [&](bool causal) { return text_of(Attention{1, causal}, operands).find("map 3"); };
  EXPECT_NE(queries(false), std::string::npos);
  EXPECT_EQ(queries(true), std::string::npos);
}

TEST(Factors, OfAScatterThatAddsSumOverTheIndexAndCountTheTableOnce) {
  const std::vector<TensorType> operands{f32({9, 4}), {DType::i64, {3, 4}}, f32({3, 4})};
  const auto of = [&](ScatterFn fn) { return factors_of(Scatter{0, fn}, operands, {operands[0]}); };
  EXPECT_EQ(to_string(of(ScatterFn::add)), "whole 9 in0.0 out0.0; sum 3 in1.0 in2.0; map 4 in0.1 in1.1 in2.1 out0.1");
  EXPECT_EQ(of(ScatterFn::add).added, 1u);
  EXPECT_EQ(to_string(of(ScatterFn::max)).find("sum"), std::string::npos);
}

TEST(Factors, AreLinearInWhatSumsMayBePulledThrough) {
  const auto x = f32({2, 3});
  const auto add = factors_of(Pointwise{PointwiseFn::add}, {x, x}, {x});
  ASSERT_EQ(add.linear.size(), 1u);
  EXPECT_TRUE(add.linear[0].has(0) && add.linear[0].has(1));
  const auto mul = factors_of(Pointwise{PointwiseFn::mul}, {x, x}, {x});
  ASSERT_EQ(mul.linear.size(), 2u);
  EXPECT_TRUE(mul.linear[0].has(0) && !mul.linear[0].has(1));
  EXPECT_TRUE(factors_of(Pointwise{PointwiseFn::exp}, {x}, {x}).linear.empty());
  const TensorType whole{DType::i32, {2, 3}};
  EXPECT_TRUE(factors_of(Pointwise{PointwiseFn::div}, {whole, whole}, {whole}).linear.empty());
  EXPECT_TRUE(factors_of(Cast{DType::f16}, {x}, {{DType::f16, {2, 3}}}).linear.empty());
  EXPECT_FALSE(factors_of(Permute{{1, 0}}, {x}, {f32({3, 2})}).linear[0].sums_only);
}

}  // namespace
}  // namespace burn::ir
