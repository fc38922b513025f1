// Sessions in this process, and on workers over ws://, that perform collectives together.
#include "tests/system/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burn {
namespace {

// --- what they compute -----------------------------------------------------------------------------------------------

TEST_P(Groups, PerformEachCollective) {
  auto members = group(2);
  const std::vector<HostTensor> inputs = {tensor({2, 3}, {1, 2, 3, 4, 5, 6}), tensor({2, 3}, {10, 20, 30, 40, 50, 60})};
  const auto type = f32({2, 3});
  EXPECT_THAT(run(
                  members, [&](int) { return program_of(type, ir::AllReduce{}); }, inputs),
              ElementsAre(ElementsAre(11, 22, 33, 44, 55, 66), ElementsAre(11, 22, 33, 44, 55, 66)));
  EXPECT_THAT(run(
                  members,
                  [&](int rank) {
                    return program_of(type, ir::ReduceScatter{ReduceFn::max, 1, {1, 2}, rank});
                  },
                  inputs),
              ElementsAre(ElementsAre(10, 40), ElementsAre(20, 30, 50, 60)));
  EXPECT_THAT(run(
                  members,
                  [&](int rank) {
                    return program_of(type, ir::AllGather{1, {3, 3}, rank});
                  },
                  inputs),
              ElementsAre(ElementsAre(1, 2, 3, 10, 20, 30, 4, 5, 6, 40, 50, 60),
                          ElementsAre(1, 2, 3, 10, 20, 30, 4, 5, 6, 40, 50, 60)));
  EXPECT_THAT(run(
                  members,
                  [&](int rank) {
                    return program_of(type, ir::AllToAll{0, {2, 2}, 1, {1, 2}, rank});
                  },
                  inputs),
              ElementsAre(ElementsAre(1, 4, 10, 40), ElementsAre(2, 3, 5, 6, 20, 30, 50, 60)));
}

TEST_P(Groups, TwoGroupsOfASessionAreApart) {
  auto members = group(2);
  ASSERT_TRUE(members.form(7).ok());
  const std::vector<HostTensor> inputs = {tensor({1}, {1}), tensor({1}, {2})};
  for (const std::int64_t number : {7, 0}) {
    EXPECT_THAT(run(
                    members,
                    [&](int) {
                      return program_of(f32({1}), ir::AllReduce{ReduceFn::sum, number});
                    },
                    inputs),
                ElementsAre(ElementsAre(3), ElementsAre(3)));
  }
}

// Two equal ones before a third, which alone is needed for the output.
TEST_P(Groups, CollectivesWhoseResultIsNotUsedArePerformedToo) {
  auto members = group(2);
  const auto program = [](int) {
    ir::ProgramBuilder builder;
    const auto x = builder.add_input(f32({2}));
    (void)value_or_throw(builder.add(ir::AllReduce{ReduceFn::max}, {&x, 1}));
    (void)value_or_throw(builder.add(ir::AllReduce{ReduceFn::max}, {&x, 1}));
    const Ref both[] = {x, x};
    const auto own = value_or_throw(builder.add(ir::Pointwise{ir::PointwiseFn::add}, both));
    const auto sum = value_or_throw(builder.add(ir::AllReduce{}, {&own, 1}));
    return std::make_shared<const ir::Program>(builder.finish({sum}));
  };
  EXPECT_THAT(run(members, program, {tensor({2}, {1, 2}), tensor({2}, {3, 4})}),
              ElementsAre(ElementsAre(8, 12), ElementsAre(8, 12)));
}

TEST_P(Groups, ADonatedInputMayBeReducedInPlace) {
  auto members = group(3);
  const auto program = [](int) {
    ir::ProgramBuilder builder;
    const auto x = builder.add_input(f32({3}));
    builder.donate(0);
    const auto sum = value_or_throw(builder.add(ir::AllReduce{}, {&x, 1}));
    return std::make_shared<const ir::Program>(builder.finish({sum}));
  };
  std::vector<std::future<Result<HostTensor>>> answers;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_TRUE(members[rank].write(1, tensor({3}, {1, 2, static_cast<float>(rank)})).ok());
    EXPECT_TRUE(members[rank].define(1, program(0), {}).ok());
    EXPECT_TRUE(members[rank].run({.program = 1, .inputs = {1}, .first_output = 2}).ok());
    answers.push_back(read(members[rank], 2));
  }
  for (auto& answer : answers) EXPECT_THAT(values(value_or_throw(answer.get())), ElementsAre(3, 6, 3));
}

TEST_P(Groups, AGroupOfOneWaitsForNothing) {
  auto members = group(1);
  EXPECT_THAT(run(members,
                  [](int) {
                    return program_of(f32({2}), ir::AllGather{0, {2}});
                  },
                  {tensor({2}, {1, 2})}),
              ElementsAre(ElementsAre(1, 2)));
}

// --- failures --------------------------------------------------------------------------------------------------------

TEST_P(Groups, WhatFailsOnOneMemberFailsOnAllWithItsCause) {
  auto members = group(2);
  for (const bool fails : {true, false}) {
    std::vector<std::future<Result<HostTensor>>> sums, others;
    for (std::size_t rank = 0; rank < 2; ++rank) {
      auto& session = members[rank];
      EXPECT_TRUE(session.write(1, tensor({4}, {1, 2, 3, 4})).ok());
      EXPECT_TRUE(session.write(2, index_tensor({0, fails && rank == 1 ? 12 : 3})).ok());
      EXPECT_TRUE(session.define(1, gathered_and_reduced(), {}).ok());
      EXPECT_TRUE(session.run({.program = 1, .inputs = {1, 2}, .first_output = 3}).ok());
      sums.push_back(read(session, 3));
      others.push_back(read(session, 4));
      EXPECT_TRUE(session.release({1, 2, 3, 4}).ok());
    }
    for (std::size_t rank = 0; rank < 2; ++rank) {
      const auto sum = sums[rank].get();
      if (fails) {
        EXPECT_EQ(sum.status().code(), StatusCode::out_of_range);
        EXPECT_THAT(sum.status().message(),
                    HasSubstr("all_reduce: member 1: gather: index 12 is outside 0..3 (at model.cc:7)"));
      } else {
        EXPECT_THAT(values(value_or_throw(sum)), ElementsAre(2, 8));
      }
      EXPECT_THAT(values(value_or_throw(others[rank].get())), ElementsAre(2, 4, 6, 8));
    }
  }
}

TEST_P(Groups, AStepThatFailsOnOneMemberKeepsTheStateOfAll) {
  auto members = group(2);
  proto::TensorId state = 10;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    EXPECT_TRUE(members[rank].write(state, tensor({2}, {5, 6})).ok());
    EXPECT_TRUE(members[rank].write(1, tensor({4}, {1, 2, 3, 4})).ok());
    EXPECT_TRUE(members[rank].define(1, guarded_step(), {}).ok());
  }
  float expected = 5;
  for (const bool fails : {false, true, false}) {
    std::vector<std::future<Result<HostTensor>>> first, second;
    for (std::size_t rank = 0; rank < 2; ++rank) {
      auto& session = members[rank];
      EXPECT_TRUE(session.write(2, index_tensor({0, fails && rank == 1 ? 12 : 3})).ok());
      EXPECT_TRUE(session.run({.program = 1, .inputs = {state, 1, 2}, .first_output = state + 1, .release = {2}}).ok());
      first.push_back(read(session, state + 1));  // which is told why the step was refused
      second.push_back(read(session, state + 1));
    }
    if (!fails) expected += 2;
    for (std::size_t rank = 0; rank < 2; ++rank) {
      const auto told = first[rank].get();
      if (fails) {
        EXPECT_THAT(told.status().message(), HasSubstr("index 12 is outside 0..3")) << rank;
      }
      EXPECT_EQ(told.ok(), !fails) << rank;
      EXPECT_EQ(values(value_or_throw(second[rank].get()))[0], expected) << rank;
    }
    ++state;
  }
}

TEST_P(Groups, ASessionInNoGroupFailsTheStep) {
  auto members = sessions(1);
  const auto made = begin_waiting(members[0]).get();
  EXPECT_EQ(made.status().code(), StatusCode::failed_precondition);
  EXPECT_THAT(made.status().message(), HasSubstr("all_reduce: this session is in no group 0 (at model.cc:41)"));
}

TEST_P(Groups, AMemberThatClosesIsNamedWithinASecond) {
  auto members = group(3);
  auto first = begin_waiting(members[0]), second = begin_waiting(members[1]);
  std::this_thread::sleep_for(milliseconds{50});
  const auto begin = Clock::now();
  members[2].close();
  for (auto* waiting : {&first, &second}) {
    const auto made = waiting->get();
    EXPECT_EQ(made.status().code(), StatusCode::unavailable);
    EXPECT_THAT(made.status().message(), HasSubstr("all_reduce: member 2 left the group"));
  }
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds{1});
}

TEST_P(Groups, ASessionThatWaitsForOthersCanBeClosed) {
  auto members = group(2);
  auto waiting = begin_waiting(members[0]);
  std::this_thread::sleep_for(milliseconds{50});
  const auto begin = Clock::now();
  members[0].close();
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds{2});
  EXPECT_FALSE(waiting.get().ok());
}

TEST_P(Groups, AbortEndsWhatWaitsAndANewEpochGoesOn) {
  auto members = group(2);
  auto waiting = begin_waiting(members[0]);
  std::this_thread::sleep_for(milliseconds{50});
  members[0].abort_group(0, 9, unavailable("of another epoch"));
  members[0].abort_group(3, 1, unavailable("of another group"));
  members[0].abort_group(0, 1, unavailable("worker b is lost"));
  const auto made = waiting.get();
  EXPECT_EQ(made.status().code(), StatusCode::unavailable);
  EXPECT_THAT(made.status().message(), HasSubstr("all_reduce: worker b is lost"));
  ASSERT_EQ(members.form(0, 2).to_string(), "OK");
  EXPECT_TRUE(members[0].release({1, 2}).ok());
  EXPECT_THAT(
      run(members, [](int) { return program_of(f32({1}), ir::AllReduce{}); }, {tensor({1}, {1}), tensor({1}, {2})}),
      ElementsAre(ElementsAre(3), ElementsAre(3)));
}

TEST_P(Groups, AMemberWhoseRunIsRefusedTellsTheOthers) {
  auto members = group(2);
  auto waiting = begin_waiting(members[0]);
  EXPECT_TRUE(members[1].define(1, program_of(f32({2}), ir::AllReduce{}), {}).ok());
  EXPECT_TRUE(members[1].run({.program = 1, .inputs = {77}, .first_output = 2}).ok());
  EXPECT_THAT(waiting.get().status().message(), HasSubstr("all_reduce: member 1: program 1: tensor 77"));

  ASSERT_EQ(members.form(0, 2).to_string(), "OK");
  EXPECT_TRUE(members[0].run({.program = 1, .inputs = {1}, .first_output = 5}).ok());
  EXPECT_TRUE(members[1].run({.program = 9, .first_output = 5}).ok());
  EXPECT_THAT(read(members[0], 5).get().status().message(), HasSubstr("member 1: program 9 is not known"));
}

TEST(GroupsOfWorkers, AWorkerThatIsKilledIsNamedWithinASecond) {
  std::array<test::Worker, 3> workers;
  std::vector<std::unique_ptr<proto::Session>> sessions;
  sessions.reserve(workers.size());
  for (auto& worker : workers) sessions.push_back(value_or_throw(net::connect(worker.url("ws"))));
  GroupMembers members(std::move(sessions));
  ASSERT_EQ(members.form().to_string(), "OK");
  std::vector<std::future<Result<HostTensor>>> waiting;
  for (const std::size_t rank : {0, 2}) {
    // Of some megabytes, which are under way then.
    EXPECT_TRUE(members[rank].write(1, tensor({1 << 20}, std::vector<float>(1 << 20))).ok());
    EXPECT_TRUE(members[rank].define(1, program_of(f32({1 << 20}), ir::AllReduce{}), {}).ok());
    EXPECT_TRUE(members[rank].run({.program = 1, .inputs = {1}, .first_output = 2}).ok());
    waiting.push_back(read(members[rank], 2));
  }
  std::this_thread::sleep_for(milliseconds{200});
  const auto begin = Clock::now();
  workers[1].kill();
  for (auto& answer : waiting) {
    const auto made = answer.get();
    EXPECT_EQ(made.status().code(), StatusCode::unavailable);
    EXPECT_THAT(made.status().message(), HasSubstr("all_reduce: member 1 left the group"));
  }
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds{1});
}

INSTANTIATE_TEST_SUITE_P(Sessions, Groups, testing::Values("local", "ws"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace burn
