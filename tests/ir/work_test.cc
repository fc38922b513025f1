#include "ir/work.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/sites.h"

namespace burn::ir {
namespace {

TensorType f32(Shape shape) { return {DType::f32, shape}; }

TEST(EstimatedWork, OfAReductionIsWhatItReadsNotWhatItKeeps) {
  ProgramBuilder builder;
  const auto x = builder.add_input(f32({1, 1}));
  const auto wide = value_or_throw(builder.add(Expand{{std::int64_t{1} << 25, std::int64_t{1} << 25}}, {&x, 1}));
  const auto sum = value_or_throw(builder.add(Reduce{ReduceFn::sum, {0, 1}}, {&wide, 1}));
  EXPECT_EQ(estimated_work(builder.finish({sum})), static_cast<double>(std::int64_t{1} << 50));
}

TEST(EstimatedWork, OfProductsIsCubic) {
  ProgramBuilder builder;
  const Ref x[] = {builder.add_input(f32({512, 256})), builder.add_input(f32({256, 1024}))};
  const auto y = value_or_throw(builder.add(MatMul{}, x));
  const auto work = estimated_work(builder.finish({y}));
  EXPECT_GE(work, 512.0 * 256 * 1024 / 16);
  EXPECT_LE(work, 512.0 * 256 * 1024);
}

TEST(EstimatedWork, OfFactorisationsIsCubic) {
  const auto work_of = [](const Op& op, std::size_t operands) {
    ProgramBuilder builder;
    const auto x = builder.add_input(f32({1000, 1000}));
    const auto y = value_or_throw(builder.add(op, std::vector<Ref>(operands, x)));
    return estimated_work(builder.finish({y}));
  };
  for (const Op& op : {Op{Cholesky{}}, Op{Lu{}}, Op{Qr{}}, Op{Svd{}}, Op{Eigh{}}, Op{Det{}}})
    EXPECT_GE(work_of(op, 1), 1e9 / 3 / 16) << name(op);
  for (const Op& op : {Op{Solve{}}, Op{SolveTriangular{}}}) EXPECT_GE(work_of(op, 2), 1e9 / 16) << name(op);
  EXPECT_GE(work_of(Svd{}, 1), 10 * work_of(Lu{}, 1));
}

TEST(EstimatedWork, OfAttentionGrowsWithItsWeightsHoweverNarrowItIs) {
  ProgramBuilder builder;
  const Ref x[] = {builder.add_input(f32({1 << 20, 0})), builder.add_input(f32({1 << 20, 0})),
                   builder.add_input(f32({1 << 20, 0}))};
  const auto y = value_or_throw(builder.add(Attention{}, x));
  EXPECT_GE(estimated_work(builder.finish({y})), static_cast<double>(std::int64_t{1} << 40));
}

TEST(EstimatedWork, AddsUpOverNodesAndIgnoresViews) {
  ProgramBuilder builder;
  auto x = builder.add_input(f32({100}));
  for (int i = 0; i < 5; ++i) {
    const Ref both[] = {x, x};
    x = value_or_throw(builder.add(Pointwise{PointwiseFn::add}, both));
    x = value_or_throw(builder.add(Reshape{{10, 10}}, {&x, 1}));
    x = value_or_throw(builder.add(Reshape{{100}}, {&x, 1}));
  }
  EXPECT_EQ(estimated_work(builder.finish({x})), 500);
}

Program at(const char* file, std::uint32_t line) {
  ProgramBuilder builder;
  const Ref both[] = {builder.add_input(f32({4})), builder.add_input(f32({4}))};
  const auto y = value_or_throw(builder.add(Pointwise{PointwiseFn::add}, both, {file, line}));
  return builder.finish({y});
}

TEST(Sites, AreComparedByTextAndLine) {
  const std::string copy = "model.cc";
  EXPECT_TRUE(same_sites(at("model.cc", 4), at(copy.c_str(), 4)));
  EXPECT_EQ(sites_hash(at("model.cc", 4)), sites_hash(at(copy.c_str(), 4)));
  EXPECT_FALSE(same_sites(at("model.cc", 4), at("model.cc", 5)));
  EXPECT_NE(sites_hash(at("model.cc", 4)), sites_hash(at("model.cc", 5)));
  EXPECT_FALSE(same_sites(at("model.cc", 4), at("other.cc", 4)));
  EXPECT_NE(sites_hash(at("model.cc", 4)), sites_hash(at("other.cc", 4)));
  EXPECT_FALSE(same_sites(at("model.cc", 4), at(nullptr, 4)));
  EXPECT_TRUE(same(at("model.cc", 4), at("other.cc", 5)));  // the same program for all that
}

}  // namespace
}  // namespace burn::ir
