// What every implementation of a session promises (proto/session.h) of failures, callbacks and its end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/system/session_contract.h"

namespace burn {
namespace {

// --- failures ------------------------------------------------------------------------------------------------------

TEST_P(SessionContract, AStepThatFailsPoisonsWhatIsComputedFromItAndNothingElse) {
  define(1, gather_and_add_program(3, 1));
  define(2, add_program({1}));
  write(1, tensor({3}, {10, 20, 30}));
  write(2, index_tensor({3}));
  run({.program = 1, .inputs = {1, 2}, .first_output = 3});
  run({.program = 2, .inputs = {3, 3}, .first_output = 5});
  EXPECT_EQ(numbers(4), (std::vector<float>{20, 40, 60}));
  EXPECT_FAILS(read(5).status(), out_of_range, "model.cc:7");  // the first cause, with its call site
  EXPECT_FAILS(read(3).status(), out_of_range, "model.cc:7");
}

// in0, donated, is replaced by its sum with in1[in2], if that is there; and the number.
ProgramPtr guarded_program() {
  ir::ProgramBuilder builder;
  const auto state = builder.add_input(f32({1})), x = builder.add_input(f32({3}));
  const auto index = builder.add_input({ir::DType::i64, {1}});
  builder.donate(0);
  const auto add = [&](const ir::Op& op, std::initializer_list<ir::Ref> operands) {
    return value_or_throw(builder.add(op, std::span(operands.begin(), operands.size()), {"model.cc", 7}));
  };
  const auto picked = add(ir::Gather{0}, {x, index}), ok = add(ir::Commit{}, {});
  const auto sum = add(ir::Pointwise{ir::PointwiseFn::add}, {state, picked});
  const auto kept = add(ir::Pointwise{ir::PointwiseFn::select}, {ok, sum, state});
  return std::make_shared<const ir::Program>(builder.finish({kept, picked}));
}

TEST_P(SessionContract, WhatACommitGuardsStaysAndTheNextReadOfAnythingTellsWhyOnce) {
  define(1, guarded_program());
  write(1, tensor({1}, {5}));
  write(2, tensor({3}, {10, 20, 30}));
  write(3, index_tensor({3}));
  write(4, index_tensor({1}));
  run({.program = 1, .inputs = {1, 2, 3}, .first_output = 10});
  EXPECT_FAILS(read(2).status(), out_of_range, "program 1: gather: index 3 is outside 0..2 (at model.cc:7)");
  EXPECT_EQ(numbers(2), (std::vector<float>{10, 20, 30}));
  EXPECT_EQ(numbers(10), (std::vector<float>{5}));
  EXPECT_TRUE(sync().ok());
  EXPECT_FALSE(read(1).ok()) << "it was given to the run";
  run({.program = 1, .inputs = {10, 2, 3}, .first_output = 20});
  EXPECT_FAILS(read(21).status(), out_of_range, "index 3");
  run({.program = 1, .inputs = {20, 2, 4}, .first_output = 30});
  EXPECT_EQ(numbers(30), (std::vector<float>{25})) << "what was told is not told again";
  run({.program = 1, .inputs = {30, 2, 3}, .first_output = 40});
  EXPECT_FAILS(sync(), out_of_range, "index 3");
  EXPECT_EQ(numbers(40), (std::vector<float>{25}));
}

TEST_P(SessionContract, ARefusedRunPoisonsAllOfItsOwn) {
  define(1, add_program({2}));
  define(2, add_program({1}));
  write(1, tensor({1}, {1}));
  run({.program = 1, .inputs = {1, 1}, .first_output = 2});  // another shape
  run({.program = 2, .inputs = {2, 2}, .first_output = 3});
  EXPECT_FAILS(read(3).status(), invalid_argument, "program 1");
  EXPECT_EQ(numbers(1), (std::vector<float>{1}));
}

TEST_P(SessionContract, ARunAfterARefusedProgramNeverRunsTheOneBefore) {
  define(1, add_program({1}));
  write(1, tensor({1}, {1}));
  ir::ProgramBuilder builder;  // 2^40 bytes: no device here has them
  const auto huge = value_or_throw(builder.add(ir::Iota{ir::DType::i64, std::int64_t{1} << 37}, {}));
  define(1, std::make_shared<const ir::Program>(builder.finish({huge})));
  run({.program = 1, .inputs = {1, 1}, .first_output = 2});
  EXPECT_FALSE(read(2).ok());
  run({.program = 1, .first_output = 3});
  EXPECT_FAILS(read(3).status(), resource_exhausted, "");
}

TEST_P(SessionContract, SyncReportsTheFirstFailureThatNoReadHasReportedAndOnlyOnce) {
  define(1, gather_and_add_program(3, 1));
  write(1, tensor({3}, {1, 2, 3}));
  write(2, index_tensor({7}));
  write(3, index_tensor({8}));
  run({.program = 1, .inputs = {1, 2}, .first_output = 10});
  run({.program = 1, .inputs = {1, 3}, .first_output = 12});
  EXPECT_FAILS(read(10).status(), out_of_range, "index 7");
  EXPECT_FAILS(sync(), out_of_range, "index 8");
  EXPECT_TRUE(sync().ok());
  EXPECT_FAILS(read(10).status(), out_of_range, "index 7");  // the tensor stays what it is
  EXPECT_TRUE(sync().ok());
}

TEST_P(SessionContract, AReadOfSomethingUnknownIsItsOwnFailureAlone) {
  EXPECT_FAILS(read(77).status(), not_found, "tensor 77");
  EXPECT_TRUE(sync().ok());
  release({78});
  EXPECT_FAILS(sync(), not_found, "tensor 78");
}

// --- callbacks and the end -----------------------------------------------------------------------------------------

TEST_P(SessionContract, ACallbackMayMakeNewCalls) {
  define(1, add_program({1}));
  write(1, tensor({1}, {1}));
  std::promise<float> result;
  std::atomic<bool> was_own = false;
  session_->read(1, [&](const Result<HostTensor>& first) {
    ASSERT_TRUE(first.ok());
    was_own = session_->is_on_own_thread();
    EXPECT_TRUE(session_->run({.program = 1, .inputs = {1, 1}, .first_output = 2}).ok());
    session_->read(2, [&](Result<HostTensor> second) { result.set_value(second.ok() ? values(*second)[0] : -1); });
  });
  EXPECT_EQ(result.get_future().get(), 2.0f);
  EXPECT_FALSE(session_->is_on_own_thread());
}

TEST_P(SessionContract, CloseIsTheEndAndMayBeRepeated) {
  write(1, tensor({1}, {1}));
  EXPECT_TRUE(sync().ok());
  EXPECT_TRUE(session_->health().ok());
  session_->close();
  session_->close();
  EXPECT_FALSE(session_->health().ok());
  EXPECT_FALSE(session_->write(2, tensor({1}, {1})).ok());
  EXPECT_FALSE(session_->run({.program = 1, .inputs = {1}, .first_output = 3}).ok());
  EXPECT_FALSE(read(1).ok());
  EXPECT_FALSE(sync().ok());
}

TEST_P(SessionContract, EveryCallbackIsCalledExactlyOnceAlsoWhenClosingUnderLoad) {
  constexpr int kRounds = 20, kThreads = 3;
  for (int round = 0; round < kRounds; ++round) {
    auto session = open();
    EXPECT_TRUE(session->define(1, add_program({64}), {}).ok());
    EXPECT_TRUE(session->write(1, tensor({64}, std::vector<float>(64, 1))).ok());
    std::atomic<int> asked = 0, answered = 0;
    std::atomic<TensorId> next = 2;
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        while (true) {
          const auto output = next.fetch_add(1);
          const bool is_open = session->run({.program = 1, .inputs = {1, 1}, .first_output = output}).ok();
          ++asked;
          session->read(output, [&](const Result<HostTensor>&) { ++answered; });
          ++asked;
          session->sync([&](const Status&) { ++answered; });
          if (!is_open) return;
        }
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(round % 7));
    session->close();
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(answered, asked) << round;
  }
}

TEST_P(SessionContract, SessionsDoNotSeeEachOther) {
  write(1, tensor({1}, {1}));
  EXPECT_TRUE(sync().ok());
  const auto mine = std::exchange(session_, open());
  EXPECT_FAILS(read(1).status(), not_found, "tensor 1");
}

TEST_P(SessionContract, TheDestructorClosesIt) {
  std::atomic<int> answered = 0;
  define(1, add_program({1}));
  write(1, tensor({1}, {1}));
  for (TensorId id = 2; id < 102; ++id) {
    run({.program = 1, .inputs = {1, 1}, .first_output = id});
    session_->read(id, [&](const Result<HostTensor>&) { ++answered; });
  }
  session_.reset();
  EXPECT_EQ(answered, 100);
}

}  // namespace
}  // namespace burn
