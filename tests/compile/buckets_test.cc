// All-reduces of a bucket as one step of a plan, and how long collectives may take.
#include "compile/plan/buckets.h"

#include <initializer_list>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace burn::compile {
namespace {

using ir::DType, ir::PointwiseFn, ir::ReduceFn, ir::Ref;
using testing::ElementsAre;

const ir::TensorType kType{DType::f32, {4}};

class Buckets : public testing::Test {
 protected:
  Ref input() { return builder_.add_input(kType); }
  Ref add(const ir::Op& op, std::initializer_list<Ref> operands) {
    return value_or_throw(builder_.add(op, std::span(operands.begin(), operands.size())));
  }
  Ref sin(Ref x) { return add(ir::Pointwise{PointwiseFn::sin}, {x}); }
  Ref reduced(Ref x, std::int64_t bucket, ReduceFn fn = ReduceFn::sum) {
    return add(ir::AllReduce{fn, 0, bucket}, {x});
  }
  // Without fusion: a step is a node.
  void plan(std::vector<Ref> outputs) {
    program_ = builder_.finish(std::move(outputs));
    plan_ = make_plan(program_, {.fusion = false, .buckets = true});
  }
  // For each step, its node or the nodes of its bucket.
  std::vector<std::vector<std::int32_t>> steps() const {
    std::vector<std::vector<std::int32_t>> all;
    for (const auto& step : plan_.steps) all.push_back(step.bucket.empty() ? std::vector{step.node} : step.bucket);
    return all;
  }
  std::vector<std::int32_t> ends() const { return find_collective_ends(program_, plan_); }

  ir::ProgramBuilder builder_;
  ir::Program program_;
  Plan plan_;
};

TEST_F(Buckets, AreOneStepInThePlaceOfTheLast) {
  const auto a = sin(input()), x = reduced(a, 1), b = sin(a), y = reduced(b, 1), c = sin(b), z = reduced(c, 2);
  plan({x, y, z});
  EXPECT_THAT(steps(), ElementsAre(ElementsAre(0), ElementsAre(2), ElementsAre(1, 3), ElementsAre(4), ElementsAre(5)));
  EXPECT_THAT(plan_.steps[2].reads, ElementsAre(a, b));
  EXPECT_THAT(plan_.steps[2].results, ElementsAre(x, y));
  EXPECT_EQ(plan_.last_use(a), 2);
  EXPECT_THAT(ends(), ElementsAre(-1, -1, 5, -1, 5));
}

TEST_F(Buckets, EndWhereAResultIsRead) {
  const auto a = input(), x = reduced(a, 1), y = reduced(sin(x), 1), z = reduced(a, 1);
  plan({y, z});
  EXPECT_THAT(steps(), ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2, 3)));
  EXPECT_THAT(ends(), ElementsAre(1, -1, 3));
}

TEST_F(Buckets, AreOfOneFunctionGroupAndDType) {
  const auto a = input();
  std::vector<Ref> all{reduced(a, 1),
                       reduced(a, 1, ReduceFn::max),
                       add(ir::AllReduce{ReduceFn::max, 3, 1}, {a}),
                       reduced(add(ir::Cast{DType::f64}, {a}), 1),
                       reduced(a, 0),
                       reduced(a, 0)};
  plan(all);
  for (const auto& step : plan_.steps) EXPECT_TRUE(step.bucket.empty());
}

TEST_F(Buckets, OfSeveralDTypesAreOpenAtTheSameTime) {
  const auto a = input(), wide = add(ir::Cast{DType::f64}, {a});
  const auto x = reduced(a, 1), y = reduced(wide, 2), z = reduced(a, 1), w = reduced(wide, 2);
  plan({x, y, z, w});
  EXPECT_THAT(steps(), ElementsAre(ElementsAre(0), ElementsAre(1, 3), ElementsAre(2, 4)));
}

TEST_F(Buckets, ThatAreReadEndAlone) {
  const auto a = input(), wide = add(ir::Cast{DType::f64}, {a});
  const auto y = reduced(wide, 2), x = reduced(a, 1), read = sin(x), z = reduced(read, 1), w = reduced(wide, 2);
  plan({y, z, w});
  EXPECT_THAT(steps(), ElementsAre(ElementsAre(0), ElementsAre(2), ElementsAre(3), ElementsAre(4), ElementsAre(1, 5)));
}

TEST_F(Buckets, EndWhereAnotherGroupHasACollective) {
  const auto a = input();
  plan({reduced(a, 1), add(ir::AllReduce{ReduceFn::sum, 1, 2}, {a}), reduced(a, 1)});
  for (const auto& step : plan_.steps) EXPECT_TRUE(step.bucket.empty());
}

TEST_F(Buckets, EndAtACommitWhichWaitsForAll) {
  const auto a = input(), x = reduced(a, 1);
  const auto ok = add(ir::Commit{}, {});
  const auto y = reduced(a, 1);
  plan({x, ok, y});
  EXPECT_THAT(steps(), ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)));
  EXPECT_THAT(ends(), ElementsAre(1, -1, 3));
}

TEST_F(Buckets, ComeAsSoonAsTheirOperandsAreThere) {
  const auto a = sin(input()), b = sin(a), c = sin(b);
  const auto x = reduced(a, 1), y = reduced(b, 2), z = reduced(c, 3);
  plan({c, x, y, z});
  EXPECT_THAT(steps(), ElementsAre(ElementsAre(0), ElementsAre(3), ElementsAre(1), ElementsAre(4), ElementsAre(2),
                                   ElementsAre(5)));
}

}  // namespace
}  // namespace burn::compile
