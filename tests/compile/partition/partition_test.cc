// Which programs members get: one decision each.
#include "compile/partition/partition.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/compile/partition/lockstep.h"
#include "tests/ops/samples.h"

namespace burn::testing {
namespace {

using compile::partition::balanced;
using compile::partition::Layout;
using compile::partition::Partitioned;
using ir::DType;
using ir::PointwiseFn;
using ir::Ref;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Layout kWhole{};
Layout rows(std::int64_t size, int members = 2) { return Layout::split(0, balanced(size, members)); }

// Builds a program whose inputs have the layouts that the test gives.
class Written {
 public:
  Ref input(const ir::Shape& shape, const Layout& layout, DType dtype = DType::f32) {
    layouts_.push_back(layout);
    return builder_.add_input({dtype, shape});
  }
  Ref add(const ir::Op& op, std::initializer_list<Ref> operands) {
    return value_or_throw(
        builder_.add(op, std::span(operands.begin(), operands.size()), {.file = "model.cc", .line = 3}));
  }
  Ref add(PointwiseFn fn, std::initializer_list<Ref> operands) { return add(ir::Pointwise{fn}, operands); }
  Ref number(double real) { return add(ir::Constant{DType::f32, 0, real}, {}); }
  Ref random(const ir::Shape& shape) {
    return value_or_throw(builder_.add_random({.shape = shape, .whole = {}, .starts = {}}));
  }
  void donate(Ref input) { builder_.donate(input.index()); }

  // Partitions the program, and checks that its results equal those of one device.
  Partitioned partition(std::vector<Ref> outputs, int members = 2,
                        const std::vector<std::optional<Layout>>& wanted = {}) {
    const auto program = builder_.finish(std::move(outputs));
    auto partitioned = value_or_throw(compile::partition::partition(program, layouts_, members, wanted));
    std::vector<reference::Tensor> inputs;
    for (const auto& input : program.inputs) {
      auto& x = inputs.emplace_back(input.type);
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (ir::is_floating(input.type.dtype))
          x.set(i, static_cast<double>(i % 7) - 2.5);
        else
          x.set(i, static_cast<std::int64_t>(i % 3));
      }
    }
    const reference::Bindings bindings{{}, 3, 0};
    const auto expected = reference::evaluate(program, inputs, bindings);
    const auto actual = run_partitioned(program, partitioned, layouts_, inputs, bindings);
    for (std::size_t k = 0; k < expected.size(); ++k)
      EXPECT_EQ(first_difference(actual[k], expected[k]), "") << to_string(partitioned);
    return partitioned;
  }
  Status refusal(std::vector<Ref> outputs, int members = 2) {
    return compile::partition::partition(builder_.finish(std::move(outputs)), layouts_, members).status();
  }

 private:
  ir::ProgramBuilder builder_;
  std::vector<Layout> layouts_;
};

std::vector<std::string> kinds(const Partitioned& partitioned) {
  std::vector<std::string> kinds;
  kinds.reserve(partitioned.conversions.size());
  for (const auto& conversion : partitioned.conversions) kinds.push_back(conversion.kind);
  return kinds;
}

std::string program_of(const Partitioned& partitioned, std::size_t member = 0) {
  return to_string(*partitioned.members[member]);
}

TEST(Partition, ComputesRowsOfABatchWithWholeWeights) {
  Written w;
  const auto y = w.add(ir::MatMul{}, {w.input({6, 4}, rows(6)), w.input({4, 5}, kWhole)});
  const auto done = w.partition({w.add(PointwiseFn::relu, {y})});
  EXPECT_THAT(kinds(done), IsEmpty());
  EXPECT_THAT(done.outputs, ElementsAre(rows(6)));
}

TEST(Partition, RepeatsABiasForTheRowsOfAMemberOnly) {
  Written w;
  const auto x = w.input({6, 4}, rows(6)), bias = w.input({1, 4}, kWhole);
  const auto done = w.partition({w.add(PointwiseFn::add, {x, w.add(ir::Expand{{6, 4}}, {bias})})});
  EXPECT_THAT(kinds(done), IsEmpty());
  EXPECT_THAT(program_of(done), HasSubstr("expand(shape=[3, 4])"));
}

TEST(Partition, DrawsTheMembersPartOfRandomNumbers) {
  Written w;
  const auto mask = w.add(PointwiseFn::lower, {w.random({6, 4}), w.number(0.5)});
  const auto x = w.input({6, 4}, rows(6));
  const auto done = w.partition({w.add(PointwiseFn::select, {mask, x, w.number(0)})});
  EXPECT_THAT(program_of(done, 1), HasSubstr("shape=[3, 4], offset=0, whole=[6, 4], starts=[3, 0]"));
  EXPECT_EQ(done.members[0]->random_blocks, 6);
}

TEST(Partition, DrawsOnceWhatIsReadInSeveralForms) {
  Written w;
  const auto drawn = w.random({6, 4});
  const auto sum = w.add(PointwiseFn::add, {drawn, w.input({6, 4}, rows(6))});
  const auto other = w.add(PointwiseFn::add, {drawn, w.input({6, 4}, kWhole)});
  const auto done = w.partition({sum, other});
  EXPECT_EQ(done.members[1]->random_blocks, 6);
}

TEST(Partition, CombinesASumOnceForAllItsReaders) {
  Written w;
  const auto x = w.input({6, 4}, rows(6));
  const auto sum = w.add(ir::Reduce{ir::ReduceFn::sum, {0}}, {x});
  const auto mean = w.add(PointwiseFn::mul, {sum, w.number(0.25)});
  const auto square = w.add(PointwiseFn::mul, {sum, sum});
  EXPECT_THAT(kinds(w.partition({mean, square})), ElementsAre("all_reduce"));
}

TEST(Partition, AddsSumsBeforeTheyAreCombined) {
  Written w;
  const auto sum_of = [&] { return w.add(ir::Reduce{ir::ReduceFn::sum, {0}}, {w.input({6, 4}, rows(6))}); };
  const auto one = sum_of(), two = sum_of();
  EXPECT_THAT(kinds(w.partition({w.add(PointwiseFn::exp, {w.add(PointwiseFn::add, {one, two})})})),
              ElementsAre("all_reduce"));
}

TEST(Partition, GivesTheIdentityOfALargestElementWhereAMemberHasNone) {
  Written w;
  const auto x = w.input({3, 2}, Layout::split(0, {0, 0, 3}));
  const auto done = w.partition({w.add(ir::Reduce{ir::ReduceFn::max, {0}}, {x})});
  EXPECT_THAT(program_of(done), HasSubstr("value=-inf"));
}

TEST(Partition, SumsSixteenBitFloatsInThirtyTwo) {
  Written w;
  const auto x = w.input({6, 4}, rows(6), DType::f16);
  const auto done = w.partition({w.add(ir::Reduce{ir::ReduceFn::sum, {0}}, {x})});
  EXPECT_THAT(program_of(done), HasSubstr("all_reduce(fn=sum, group=0, bucket=1) %1 : f32[1, 4]"));
}

TEST(Partition, SumsRowsThatAreScatteredIntoATable) {
  Written w;
  const auto zeros = w.add(ir::Expand{{3, 4}}, {w.number(0)});
  const auto index = w.input({6, 4}, rows(6), DType::i64), values = w.input({6, 4}, rows(6));
  EXPECT_THAT(kinds(w.partition({w.add(ir::Scatter{0, ir::ScatterFn::add}, {zeros, index, values})})),
              ElementsAre("all_reduce"));
}

TEST(Partition, CountsATableThatIsAddedToOnce) {
  Written w;
  const auto table = w.input({3, 4}, kWhole);
  const auto index = w.input({6, 4}, rows(6), DType::i64), values = w.input({6, 4}, rows(6));
  EXPECT_THAT(kinds(w.partition({w.add(ir::Scatter{0, ir::ScatterFn::add}, {table, index, values})})),
              ElementsAre("all_reduce"));
}

TEST(Partition, GathersWhatCannotBeComputedInParts) {
  Written w;
  const auto x = w.input({6}, rows(6));
  EXPECT_THAT(kinds(w.partition({w.add(ir::Scan{ir::ReduceFn::max, 0}, {x})})), ElementsAre("all_gather"));
}

TEST(Partition, SplitsAnotherDimWhereOneHasToBeWhole) {
  Written w;
  const auto x = w.input({6, 4}, rows(6));
  const auto done = w.partition({w.add(ir::Scan{ir::ReduceFn::max, 0}, {x})});
  EXPECT_THAT(kinds(done), ElementsAre("all_to_all"));
  EXPECT_THAT(done.outputs, ElementsAre(Layout::split(1, balanced(4, 2))));
}

TEST(Partition, SplitsAWeightByColumnsThenByRows) {
  Written w;
  const auto x = w.input({6, 4}, kWhole);
  const auto first = w.input({4, 8}, Layout::split(1, balanced(8, 2))), second = w.input({8, 4}, rows(8));
  const auto hidden = w.add(PointwiseFn::relu, {w.add(ir::MatMul{}, {x, first})});
  const auto done = w.partition({w.add(PointwiseFn::exp, {w.add(ir::MatMul{}, {hidden, second})})});
  EXPECT_THAT(kinds(done), ElementsAre("all_reduce"));
  EXPECT_EQ(done.conversions[0].bytes, 6 * 4 * 4);
}

TEST(Partition, DoesNotRepeatWhatKernelsRoundDifferently) {
  Written w;
  const auto x = w.input({4, 4}, kWhole);
  const auto norm = w.add(ir::Reduce{ir::ReduceFn::sum, {0, 1}}, {w.add(PointwiseFn::mul, {x, x})});
  const auto inverse = w.add(ir::Det{}, {w.add(PointwiseFn::add, {x, w.add(ir::Reshape{{}}, {norm})})});
  const auto done = w.partition({norm, inverse});
  EXPECT_THAT(kinds(done), ElementsAre("all_reduce", "all_reduce"));
  EXPECT_THAT(program_of(done, 0), HasSubstr("det"));
  EXPECT_THAT(program_of(done, 1), ::testing::Not(HasSubstr("det")));
}

TEST(Partition, BringsOutputsIntoTheFormThatIsWanted) {
  Written w;
  const auto sum = w.add(ir::Reduce{ir::ReduceFn::sum, {0}}, {w.input({6, 4}, rows(6))});
  const auto columns = Layout::split(1, balanced(4, 2));
  const auto done = w.partition({sum}, 2, {columns});
  EXPECT_THAT(kinds(done), ElementsAre("reduce_scatter"));
  EXPECT_THAT(done.outputs, ElementsAre(columns));
}

TEST(Partition, LetsAllMembersCommitOrNone) {
  Written w;
  const auto x = w.input({6, 4}, rows(6)), old = w.input({1, 4}, kWhole);
  w.donate(old);
  const auto sum = w.add(ir::Reduce{ir::ReduceFn::sum, {0}}, {x});
  const auto now = w.add(PointwiseFn::sub, {old, sum});
  const auto loss = w.add(ir::Reduce{ir::ReduceFn::max, {0, 1}}, {x});
  const auto done = w.partition({w.add(PointwiseFn::select, {w.add(ir::Commit{}, {}), now, old}), loss});
  EXPECT_THAT(kinds(done), ElementsAre("all_reduce", "all_reduce", "all_reduce"));
  EXPECT_EQ(program_of(done), R"(in0 : f32[3, 4]
in1 : f32[1, 4]  donated
%0 = reduce(fn=sum, axes=[0]) in0 : f32[1, 4]  ; model.cc:3
%1 = all_reduce(fn=sum, group=0, bucket=1) %0 : f32[1, 4]  ; model.cc:3
%2 = sub in1, %1 : f32[1, 4]  ; model.cc:3
%3 = reduce(fn=max, axes=[0, 1]) in0 : f32[1, 1]  ; model.cc:3
%4 = all_reduce(fn=max, group=0, bucket=2) %3 : f32[1, 1]  ; model.cc:3
%5 = commit : bool[]  ; model.cc:3
%6 = all_reduce(fn=min, group=0, bucket=0) %5 : bool[]  ; model.cc:3
%7 = bool_and %5, %6 : bool[]  ; model.cc:3
%8 = select %7, %2, in1 : f32[1, 4]  ; model.cc:3
outputs %8, %4
)");
}

// The buckets of the all-reduces, in order.
std::vector<std::int64_t> buckets(const Partitioned& partitioned) {
  std::vector<std::int64_t> buckets;
  for (const auto& node : partitioned.members[0]->nodes) {
    if (const auto* reduce = std::get_if<ir::AllReduce>(&node.op)) buckets.push_back(reduce->bucket);
  }
  return buckets;
}

TEST(Partition, PutsSumsThatFollowEachOtherIntoOneBucket) {
  Written w;
  std::vector<Ref> sums;
  sums.reserve(3);
  for (int k = 0; k < 3; ++k) sums.push_back(w.add(ir::Reduce{ir::ReduceFn::sum, {0}}, {w.input({6, 4}, rows(6))}));
  EXPECT_THAT(buckets(w.partition(sums)), ElementsAre(1, 1, 1));
}

// Their members may fuse otherwise: what one of them would perform together another one would perform one by one.
TEST(Partition, GivesSumsOfUnequalPartsBucketsOfTheirOwn) {
  Written w;
  std::vector<Ref> sums;
  sums.reserve(3);
  for (int k = 0; k < 3; ++k) sums.push_back(w.add(ir::Reduce{ir::ReduceFn::sum, {0}}, {w.input({1, 4}, rows(1))}));
  EXPECT_THAT(buckets(w.partition(sums)), ElementsAre(1, 2, 3));
}

TEST(Partition, HasABucketForEachDTypeOfSumsThatTakeTurns) {
  Written w;
  std::vector<Ref> sums;
  for (int k = 0; k < 4; ++k) {
    const auto x = w.input({6, 4}, rows(6), k % 2 == 0 ? DType::f32 : DType::f64);
    sums.push_back(w.add(ir::Reduce{ir::ReduceFn::sum, {0}}, {x}));
  }
  EXPECT_THAT(buckets(w.partition(sums)), ElementsAre(1, 2, 1, 2));
}

// As in mixed precision: each gradient is a bf16, and is converted before the next one is there.
TEST(Partition, ConvertsSumsWhereTheyAreReadAndKeepsTheirBucketOpen) {
  Written w;
  std::vector<Ref> gradients;
  for (int k = 0; k < 3; ++k) {
    const auto x = w.input({6, 4}, rows(6), DType::bf16), y = w.input({6, 3}, rows(6), DType::bf16);
    const auto weight = w.add(ir::MatMul{}, {w.add(ir::Permute{{1, 0}}, {x}), y});
    const auto bias = w.add(ir::Reduce{ir::ReduceFn::sum, {0}}, {y});  // summed as f32
    gradients.push_back(w.add(ir::Cast{DType::f32}, {weight}));
    gradients.push_back(w.add(ir::Reshape{{3}}, {w.add(ir::Cast{DType::f32}, {bias})}));
  }
  EXPECT_THAT(buckets(w.partition(gradients)), ElementsAre(1, 2, 1, 2, 1, 2));
}

TEST(Partition, ClosesABucketThatIsRead) {
  Written w;
  const auto x = w.input({6, 4}, rows(6));
  const auto mean = w.add(ir::Expand{{6, 4}}, {w.add(ir::Reduce{ir::ReduceFn::sum, {0}}, {x})});
  const auto distance = w.add(PointwiseFn::abs, {w.add(PointwiseFn::sub, {x, mean})});
  EXPECT_THAT(buckets(w.partition({w.add(ir::Reduce{ir::ReduceFn::sum, {0}}, {distance})})), ElementsAre(1, 2));
}

TEST(Partition, ClosesABucketThatIsFull) {
  ir::ProgramBuilder builder;
  std::vector<Ref> sums;
  std::vector<Layout> layouts;
  for (const std::int64_t columns : {200'000, 100'000, 3'000'000, 3'000'000, 3'000'000, 2'000'000}) {
    const Ref x = builder.add_input({DType::f32, {2, columns}});
    layouts.push_back(rows(2));
    sums.push_back(value_or_throw(builder.add(ir::Reduce{ir::ReduceFn::sum, {0}}, std::array{x})));
  }
  const auto done = value_or_throw(compile::partition::partition(builder.finish(sums), layouts, 2));
  EXPECT_THAT(buckets(done), ElementsAre(1, 2, 2, 2, 3, 3));  // of at most 1 MiB, then 25 MiB
}

TEST(Partition, KeepsStateThatACommitGuardsAsItLies) {
  Written w;
  const auto x = w.input({6, 4}, rows(6)), old = w.input({6, 4}, Layout::split(1, balanced(4, 2)));
  const auto now = w.add(PointwiseFn::exp, {x});
  const auto done = w.partition({w.add(PointwiseFn::select, {w.add(ir::Commit{}, {}), now, old})});
  EXPECT_THAT(kinds(done), ElementsAre("all_to_all", "all_reduce"));  // nothing behind the commit
  EXPECT_THAT(done.outputs, ElementsAre(Layout::split(1, balanced(4, 2))));
}

TEST(Partition, OfOneMemberIsTheProgramItself) {
  Written w;
  const auto y = w.add(ir::MatMul{}, {w.input({6, 4}, Layout::split(0, {0, 6})), w.input({4, 5}, kWhole)});
  const auto done = w.partition({y}, 1);
  EXPECT_THAT(program_of(done), HasSubstr("%0 = matmul in0, in1 : f32[6, 5]"));
  EXPECT_THAT(done.conversions, IsEmpty());
}

TEST(Partition, RefusesLayoutsThatDoNotFit) {
  Written w;
  const auto status = w.refusal({w.add(PointwiseFn::exp, {w.input({6, 4}, Layout::split(0, {0, 7, 6}))})});
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_THAT(status.message(), HasSubstr("input 0: split 0 at 0 7 6 does not divide f32[6, 4] among 2 members"));
}

TEST(Partition, RefusesMoreMembersThanAGroupHas) {
  for (const int members : {0, 9}) {
    Written w;
    const auto status = w.refusal({w.add(PointwiseFn::exp, {w.input({6, 4}, kWhole)})}, members);
    EXPECT_THAT(status.message(), HasSubstr("a group has 1 to 8 members"));
  }
}

TEST(Partition, RefusesCollectivesWithTheirCallSite) {
  Written w;
  const auto status = w.refusal({w.add(ir::AllReduce{}, {w.input({6}, kWhole)})});
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_THAT(status.message(), HasSubstr("all_reduce"));
  EXPECT_THAT(status.message(), HasSubstr("model.cc:3"));
}

}  // namespace
}  // namespace burn::testing
