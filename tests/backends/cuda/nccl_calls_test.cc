// What ops that the members of a group perform together ask NCCL for, and in which order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/cuda/lower/group_call.h"
#include "base/error.h"
#include "tests/backends/cuda/fake_nccl.h"
#include "tests/backends/cuda/lowered.h"

namespace burn::testing {
namespace {

using ir::Dims, ir::DType, ir::ReduceFn;
using ::testing::ElementsAre, ::testing::IsEmpty;

std::vector<std::string> calls_of(const ir::Program& program) {
  const auto device = cuda::Device::for_compiling("sm_90");
  const auto lowered = lower(*device, program, true);
  EXPECT_TRUE(lowered.ok()) << lowered.status().to_string();
  FakeNccl nccl;
  const CUdeviceptr inputs[] = {0x1000, 0x2000}, outputs[] = {0x3000, 0x4000};
  cuda::Bindings at;
  at.inputs = inputs;
  at.outputs = outputs;
  at.blocks = lowered->arena.offsets;
  for (const auto& command : lowered->commands) {
    const auto* call = std::get_if<cuda::LibraryCall>(&command.what);
    const auto* of_group = call ? call->target<cuda::GroupCall>() : nullptr;
    if (of_group) of_group->body(nccl.table(), nullptr, at, nullptr);
  }
  return nccl.calls();
}

// The calls of an op on an operand, by the member that it names.
std::vector<std::string> calls_of(const ir::Op& op, const ir::TensorType& type) {
  ir::ProgramBuilder builder;
  const ir::Ref operands[] = {builder.add_input(type)};
  const auto result = builder.add(op, operands);
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  return calls_of(builder.finish({*result}));
}

TEST(NcclCalls, OfAllReduceAreOneOfAsManyNumbers) {
  EXPECT_THAT(calls_of(ir::AllReduce{}, {DType::f32, {3, 5}}), ElementsAre("all_reduce 15 type 7 fn 0"));
  EXPECT_THAT(calls_of(ir::AllReduce{}, {DType::f32, {}}), ElementsAre("all_reduce 1 type 7 fn 0"));
  EXPECT_THAT(calls_of(ir::AllReduce{}, {DType::f32, {0, 5}}), IsEmpty());
}

TEST(NcclCalls, OfABucketAreOne) {
  ir::ProgramBuilder builder;
  const auto a = builder.add_input({DType::f32, {4}}), b = builder.add_input({DType::f32, {6}});
  std::vector<ir::Ref> sums;
  for (const auto x : {a, b}) sums.push_back(value_or_throw(builder.add(ir::AllReduce{ReduceFn::sum, 0, 3}, {&x, 1})));
  EXPECT_THAT(calls_of(builder.finish(sums)),
              ElementsAre("begin", "all_reduce 4 type 7 fn 0", "all_reduce 6 type 7 fn 0", "end"));
}

TEST(NcclCalls, OfNarrowNumbersCombineWideOnes) {
  EXPECT_THAT(calls_of(ir::AllReduce{}, {DType::bf16, {4}}), ElementsAre("all_reduce 4 type 7 fn 0"));
  EXPECT_THAT(calls_of(ir::AllReduce{}, {DType::i16, {4}}), ElementsAre("all_reduce 4 type 2 fn 0"));
  EXPECT_THAT(calls_of(ir::AllReduce{}, {DType::u16, {4}}), ElementsAre("all_reduce 4 type 3 fn 0"));
  EXPECT_THAT(calls_of(ir::AllReduce{ReduceFn::min}, {DType::bool_, {}}), ElementsAre("all_reduce 1 type 1 fn 3"));
}

TEST(NcclCalls, OfTheLargestFloatCompareWholeNumbers) {
  EXPECT_THAT(calls_of(ir::AllReduce{ReduceFn::max}, {DType::f32, {4}}), ElementsAre("all_reduce 4 type 2 fn 2"));
  EXPECT_THAT(calls_of(ir::AllReduce{ReduceFn::min}, {DType::f64, {4}}), ElementsAre("all_reduce 4 type 4 fn 3"));
}

TEST(NcclCalls, OfEqualPartsAreOne) {
  EXPECT_THAT(calls_of(ir::AllGather{0, Dims{2, 2}, 1}, {DType::f32, {2, 5}}), ElementsAre("all_gather 40"));
  EXPECT_THAT(calls_of(ir::AllGather{1, Dims{2, 2}, 1}, {DType::f32, {3, 2}}), ElementsAre("all_gather 24"));
  EXPECT_THAT(calls_of(ir::ReduceScatter{ReduceFn::sum, 1, Dims{2, 2}, 0}, {DType::f32, {3, 4}}),
              ElementsAre("reduce_scatter 6"));
}

TEST(NcclCalls, OfUnevenPartsAreOneForEachThatIsNotEmpty) {
  EXPECT_THAT(calls_of(ir::AllGather{0, Dims{3, 0, 1}, 1}, {DType::f32, {0, 2}}),
              ElementsAre("begin", "broadcast 24 of 0", "broadcast 8 of 2", "end"));
  EXPECT_THAT(calls_of(ir::ReduceScatter{ReduceFn::sum, 0, Dims{3, 0, 1}, 1}, {DType::f16, {4, 2}}),
              ElementsAre("begin", "reduce 6 to 0", "reduce 2 to 2", "end"));
}

TEST(NcclCalls, OfAllToAllSendWhatOthersTakeAndReceiveWhatTheyHave) {
  // Rows of [4, 6] become columns: member 0 has three rows, and takes two columns.
  EXPECT_THAT(calls_of(ir::AllToAll{0, Dims{3, 1}, 1, Dims{2, 4}, 0}, {DType::f32, {3, 6}}),
              ElementsAre("begin", "send 48 to 1", "receive 8 of 1", "end"));
  // Bounds along one dim move: elements 2 and 3 go from member 1 to member 0.
  EXPECT_THAT(calls_of(ir::AllToAll{0, Dims{2, 4, 0}, 0, Dims{4, 1, 1}, 1}, {DType::u8, {4}}),
              ElementsAre("begin", "send 2 to 0", "send 1 to 2", "end"));
  EXPECT_THAT(calls_of(ir::AllToAll{0, Dims{2, 4, 0}, 0, Dims{4, 1, 1}, 0}, {DType::u8, {2}}),
              ElementsAre("begin", "receive 2 of 1", "end"));
}

}  // namespace
}  // namespace burn::testing
