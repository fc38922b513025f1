// What a Commit promises (ir/ops/commit.h), asserted of every kind of device that this program knows and that computes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/backends/stream_contract.h"

namespace burn::testing {
namespace {

// A parameter that is replaced by its sum with a picked number, if nothing fails. Outputs: the parameter, the number,
// and a sum that has nothing to do with either.
ir::Program guarded_program() {
  Writer w;
  const auto parameter = w.input(f32(3), true), x = w.input(f32(3)), index = w.input({DType::i64, {1}});
  const auto beside = w.input(f32(3));
  const auto picked = w.add(ir::Gather{0}, {x, index});
  const auto sum = w.add(PointwiseFn::add, {parameter, w.add(ir::Expand{{3}}, {picked})});
  const auto other = w.add(PointwiseFn::add, {beside, beside});
  const auto ok = w.add(ir::Commit{}, {});
  return w.finish({w.add(PointwiseFn::select, {ok, sum, parameter}), picked, other});
}

TEST_P(ComputingContract, ACommitKeepsWhatItGuardsWhereACheckFails) {
  const auto executable = compile(guarded_program());
  auto parameter = value_or_throw(upload({1, 2, 3}));
  std::vector<float> expected{1, 2, 3};
  for (std::int64_t run = 0; run < 30; ++run) {
    const bool is_bad = run % 7 == 3;
    const auto index =
        value_or_throw(device_.stream().upload(SharedBytes::own(std::vector<std::int64_t>{is_bad ? 3 : run % 3})));
    backends::RunArgs args{.inputs = {std::move(parameter), *upload({10, 20, 30}), index, *upload({1, 1, 1})},
                           .program = 7,
                           .serial = static_cast<std::uint64_t>(run)};
    const auto result = value_or_throw(device_.run(executable, std::move(args)));
    if (!is_bad) {
      for (auto& number : expected) number += 10.0F * static_cast<float>(run % 3 + 1);
    }
    EXPECT_THAT(numbers(result.outputs[0]), ::testing::ElementsAreArray(expected)) << run;
    EXPECT_EQ(failure_of(result, 0), nullptr);
    const auto why = failure_of(result, 1);
    EXPECT_EQ(why != nullptr, is_bad) << run;
    EXPECT_THAT(numbers(result.outputs[2]), ElementsAre(2, 2, 2));
    const auto found = device_.found();
    if (is_bad && !result.refused) {
      ASSERT_EQ(found.size(), 1u) << "nothing else says that the parameter was kept";
      EXPECT_EQ(found[0].why, why);
    } else {
      EXPECT_EQ(result.refused, why);
    }
    parameter = result.outputs[0];
  }
}

TEST_P(ComputingContract, ACommitKeepsWhatItGuardsWhileManyRunsAreUnderWay) {
  const auto executable = compile(guarded_program());
  auto parameter = value_or_throw(upload({1, 2, 3}));
  std::vector<float> expected{1, 2, 3};
  for (std::int64_t run = 0; run < 60; ++run) {
    const bool is_bad = run % 11 == 5;
    const auto index =
        value_or_throw(device_.stream().upload(SharedBytes::own(std::vector<std::int64_t>{is_bad ? -1 : run % 3})));
    backends::RunArgs args{.inputs = {std::move(parameter), *upload({10, 20, 30}), index, *upload({1, 1, 1})},
                           .serial = static_cast<std::uint64_t>(run)};
    parameter = value_or_throw(device_.run(executable, std::move(args))).outputs[0];
    if (is_bad) continue;
    for (auto& number : expected) number += 10.0F * static_cast<float>(run % 3 + 1);
  }
  EXPECT_THAT(numbers(parameter), ::testing::ElementsAreArray(expected));
}

TEST_P(ComputingContract, ACommitCoversTheInputsOfWhatItGuardsAndNoOthers) {
  const auto executable = compile(guarded_program());
  const auto why = std::make_shared<const Status>(data_loss("half of it"));
  const auto index = value_or_throw(device_.stream().upload(SharedBytes::own(std::vector<std::int64_t>{1})));
  const auto kept =
      value_or_throw(device_.run(executable, {.inputs = {*upload({1, 2, 3}), nullptr, index, *upload({0, 0, 0})},
                                              .failures = {nullptr, why, nullptr, nullptr}}));
  EXPECT_THAT(numbers(kept.outputs[0]), ElementsAre(1, 2, 3));
  EXPECT_EQ(failure_of(kept, 1), why);
  const auto taken =
      value_or_throw(device_.run(executable, {.inputs = {*upload({1, 2, 3}), *upload({10, 20, 30}), index, nullptr},
                                              .failures = {nullptr, nullptr, nullptr, why}}));
  EXPECT_THAT(numbers(taken.outputs[0]), ElementsAre(21, 22, 23));
  EXPECT_EQ(failure_of(taken, 2), why);
  const auto lost =
      value_or_throw(device_.run(executable, {.inputs = {nullptr, *upload({10, 20, 30}), index, *upload({0, 0, 0})},
                                              .failures = {why, nullptr, nullptr, nullptr}}));
  EXPECT_EQ(failure_of(lost, 0), why) << "there is no old value";
}

}  // namespace
}  // namespace burn::testing
