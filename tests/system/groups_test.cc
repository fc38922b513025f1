// Sessions in this process, and on workers over ws://, that perform collectives together.
#include <array>
#include <functional>
#include <thread>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/registry/registry.h"
#include "net/remote/remote_session.h"
#include "server/server.h"
#include "session/local_session.h"
#include "tests/session/group_members.h"
#include "tests/session/programs.h"
#include "tests/system/worker.h"

namespace burn {
namespace {

using ir::Dims, ir::ReduceFn, ir::Ref;
using proto::HostTensor;
using session::f32;
using session::ProgramPtr;
using session::tensor;
using session::values;
using std::chrono::milliseconds;
using test::GroupMembers, test::open, test::prepare, test::read;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

// One op on one input.
ProgramPtr program_of(const ir::TensorType& type, const ir::Op& op) {
  ir::ProgramBuilder builder;
  const auto x = builder.add_input(type);
  return std::make_shared<const ir::Program>(
      builder.finish({value_or_throw(builder.add(op, {&x, 1}, {"model.cc", 41}))}));
}

// in0[in1] summed over the members, and in0 + in0.
ProgramPtr gathered_and_reduced() {
  ir::ProgramBuilder builder;
  const Ref picked[] = {builder.add_input(f32({4})), builder.add_input({ir::DType::i64, {2}})};
  const Ref both[] = {picked[0], picked[0]};
  const auto part = value_or_throw(builder.add(ir::Gather{0}, picked, {"model.cc", 7}));
  const auto sum = value_or_throw(builder.add(ir::AllReduce{}, {&part, 1}, {"model.cc", 8}));
  const auto other = value_or_throw(builder.add(ir::Pointwise{ir::PointwiseFn::add}, both, {"model.cc", 9}));
  return std::make_shared<const ir::Program>(builder.finish({sum, other}));
}

// A step of an optimizer: the donated in0 moves by in1[in2], summed over the members, unless something fails.
ProgramPtr guarded_step() {
  ir::ProgramBuilder builder;
  const auto add = [&](const ir::Op& op, std::initializer_list<Ref> operands) {
    return value_or_throw(builder.add(op, std::span(operands.begin(), operands.size()), {"model.cc", 41}));
  };
  const auto state = builder.add_input(f32({2})), x = builder.add_input(f32({4}));
  const auto index = builder.add_input({ir::DType::i64, {2}});
  builder.donate(0);
  const auto change = add(ir::AllReduce{}, {add(ir::Gather{0}, {x, index})});
  const auto ok = add(ir::Commit{}, {});
  const auto next = add(ir::Pointwise{ir::PointwiseFn::add}, {state, change});
  const auto kept = add(ir::Pointwise{ir::PointwiseFn::select}, {ok, next, state});
  return std::make_shared<const ir::Program>(builder.finish({kept}));
}

HostTensor index_tensor(std::vector<std::int64_t> numbers) {
  const auto count = static_cast<std::int64_t>(numbers.size());
  return {{ir::DType::i64, ir::Shape{count}}, SharedBytes::own(std::move(numbers))};
}

server::ServerOptions on_any_port() {
  server::ServerOptions options;
  options.ws = "127.0.0.1:0";
  return options;
}

class Groups : public testing::TestWithParam<const char*> {
 protected:
  static std::unique_ptr<proto::Session> open_session() {
    if (std::string_view(GetParam()) == "local") {
      static const auto worker = session::Worker::create(value_or_throw(backends::open_backend("cpu")));
      return session::make_local_session(worker);
    }
    // Two workers, which sessions are on in turn.
    static const std::array<server::Server, 2> servers = {server::Server(on_any_port()), server::Server(on_any_port())};
    static std::size_t next = 0;
    return value_or_throw(net::connect(servers[next++ % 2].url()));
  }
  static GroupMembers sessions(std::size_t count) {
    std::vector<std::unique_ptr<proto::Session>> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(open_session());
    return GroupMembers(std::move(all));
  }
  static GroupMembers group(std::size_t count) {
    auto members = sessions(count);
    EXPECT_EQ(members.form().to_string(), "OK");
    return members;
  }

  // Every member runs its program on its numbers; its one output.
  static std::vector<std::vector<float>> run(GroupMembers& members, const std::function<ProgramPtr(int)>& program,
                                             const std::vector<HostTensor>& inputs) {
    std::vector<std::future<Result<HostTensor>>> answers;
    for (std::size_t rank = 0; rank < members.size(); ++rank) {
      auto& session = members[rank];
      EXPECT_TRUE(session.write(1, inputs[rank]).ok());
      EXPECT_TRUE(session.define(1, program(static_cast<int>(rank)), {}).ok());
      EXPECT_TRUE(session.run({.program = 1, .inputs = {1}, .first_output = 2, .release = {1}}).ok());
      answers.push_back(read(session, 2));
      EXPECT_TRUE(session.release({2}).ok());
    }
    std::vector<std::vector<float>> outputs;
    for (auto& answer : answers) {
      const auto made = answer.get();
      EXPECT_TRUE(made.ok()) << made.status().to_string();
      outputs.push_back(made.ok() ? values(*made) : std::vector<float>{});
    }
    return outputs;
  }

  // A run that waits for the other members, and what becomes of its output.
  static std::future<Result<HostTensor>> begin_waiting(proto::Session& session) {
    EXPECT_TRUE(session.write(1, tensor({2}, {1, 2})).ok());
    EXPECT_TRUE(session.define(1, program_of(f32({2}), ir::AllReduce{}), {}).ok());
    EXPECT_TRUE(session.run({.program = 1, .inputs = {1}, .first_output = 2}).ok());
    return read(session, 2);
  }
};

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

// --- forming ---------------------------------------------------------------------------------------------------------

TEST_P(Groups, PlacesThatCannotBeAreRefused) {
  auto members = sessions(2);
  auto& session = members[0];
  const auto refused = [&](const std::function<void(proto::GroupPlace&)>& change) {
    auto place = members.place(0);
    change(place);
    return prepare(session, place).status().to_string();
  };
  EXPECT_EQ(refused([](auto& place) { place.size = 0; }), "INVALID_ARGUMENT: a group of 0 members; it may have 1 to 8");
  EXPECT_EQ(refused([](auto& place) { place.size = 9; }), "INVALID_ARGUMENT: a group of 9 members; it may have 1 to 8");
  EXPECT_EQ(refused([](auto& place) { place.rank = 2; }), "INVALID_ARGUMENT: rank 2 in a group of 2 members");
  EXPECT_EQ(refused([](auto& place) { place.ticket = "short"; }), "INVALID_ARGUMENT: a ticket of 5 bytes; one has 16");
  EXPECT_THAT(refused([](auto& place) { place.ticket += "x"; }), HasSubstr("a ticket of 17 bytes"));
}

TEST_P(Groups, OpenWantsThePlaceThatWasPrepared) {
  auto members = sessions(2);
  auto& session = members[0];
  const auto place = members.place(0);
  EXPECT_THAT(open(session, place, {"", ""}).get().to_string(),
              HasSubstr("FAILED_PRECONDITION: group 0 is not prepared with this place in epoch 1"));
  const auto address = value_or_throw(prepare(session, place));
  EXPECT_EQ(value_or_throw(prepare(session, place)), address);  // asked again
  auto other = place;
  other.ticket = "fedcba9876543210";
  EXPECT_THAT(prepare(session, other).status().message(),
              HasSubstr("group 0 is prepared with another place in epoch 1"));
  EXPECT_THAT(open(session, other, {address, address}).get().message(), HasSubstr("not prepared with this place"));
  EXPECT_THAT(open(session, place, {address}).get().message(), HasSubstr("1 addresses for 2 members"));
  EXPECT_TRUE(prepare(session, members.place(0, 0, 5)).ok());
  EXPECT_EQ(prepare(session, place).status().to_string(),
            "FAILED_PRECONDITION: epoch 1 is over: this session is in epoch 5");
  EXPECT_THAT(open(session, place, {address, address}).get().message(), HasSubstr("epoch 1 is over"));
}

TEST_P(Groups, AGroupThatStandsIsOpenedAgainAtOnce) {
  auto members = group(2);
  const auto address = value_or_throw(prepare(members[0], members.place(0)));
  EXPECT_EQ(open(members[0], members.place(0), {address, address}).get().to_string(), "OK");
}

TEST_P(Groups, ASessionPreparesSoManyGroupsAndNoMore) {
  auto members = sessions(2);
  for (std::uint32_t group = 0; group < 16; ++group) EXPECT_TRUE(prepare(members[0], members.place(0, group)).ok());
  EXPECT_THAT(prepare(members[0], members.place(0, 16)).status().to_string(),
              HasSubstr("RESOURCE_EXHAUSTED: a session may be in 16 groups"));
  EXPECT_TRUE(prepare(members[0], members.place(0, 16, 2)).ok());  // of a new epoch
}

TEST_P(Groups, MembersThatDoNotComeAreNamed) {
  auto members = sessions(3);
  std::vector<std::string> addresses;
  for (std::size_t rank = 0; rank < 3; ++rank)
    addresses.push_back(value_or_throw(prepare(members[rank], members.place(rank))));
  const auto waiting = open(members[1], members.place(1), addresses, milliseconds{300});
  const auto status = open(members[0], members.place(0), addresses, milliseconds{300}).get();
  EXPECT_EQ(status.to_string(), "DEADLINE_EXCEEDED: the group was not formed in time: member 2 is missing");
}

TEST_P(Groups, OnlyAMemberThatKnowsTheTicketIsTalkedTo) {
  auto members = sessions(2);
  const auto place = members.place(0);
  const auto own = value_or_throw(prepare(members[0], place));
  auto forged = members.place(1);
  forged.ticket = "0123456789abcdeX";  // half of it is right
  const auto address = value_or_throw(prepare(members[1], forged));
  const auto other = open(members[1], forged, {own, address}, milliseconds{500});
  EXPECT_THAT(open(members[0], place, {own, address}, milliseconds{500}).get().to_string(),
              HasSubstr("UNAVAILABLE: member 1 at " + address + ": it does not know the group's ticket"));
}

TEST_P(Groups, AddressesThatAreNoneAndThatAreElsewhereAreNotCalled) {
  auto members = sessions(2);
  std::uint64_t epoch = 1;
  for (const auto& [address, why] : {std::pair("", "is no address"), std::pair("worker:3000", "is no address"),
                                     std::pair("127.0.0.1:99999", "is no address"), std::pair("127.0.0.1", "is no"),
                                     std::pair("192.0.2.1:80", "a member on loopback calls no other machine"),
                                     std::pair("127.0.0.1:1", "member 1 at 127.0.0.1:1: Connection refused")}) {
    const auto place = members.place(0, 0, epoch++);
    const auto own = value_or_throw(prepare(members[0], place));
    EXPECT_THAT(open(members[0], place, {own, address}).get().message(), HasSubstr(why)) << address;
  }
}

// What strangers say to the port of a group that is formed, and how often, is no matter.
TEST_P(Groups, StrangersDoNotKeepAGroupFromBeingFormed) {
  auto members = sessions(2);
  std::vector<std::string> addresses;
  for (std::size_t rank = 0; rank < 2; ++rank)
    addresses.push_back(value_or_throw(prepare(members[rank], members.place(rank))));
  std::vector<int> strangers;
  for (int i = 0; i < 60; ++i) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(addresses[0].substr(addresses[0].rfind(':') + 1))));
    strangers.push_back(::socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(::connect(strangers.back(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    const std::string said = i % 3 == 0 ? "" : i % 3 == 1 ? "GET / HTTP/1.1\r\nHost: a\r\n\r\n" : "BURNGRP1";
    (void)!::write(strangers.back(), said.data(), said.size());
  }
  auto first = open(members[0], members.place(0), addresses), second = open(members[1], members.place(1), addresses);
  EXPECT_EQ(first.get().to_string(), "OK");
  EXPECT_EQ(second.get().to_string(), "OK");
  for (const int stranger : strangers) ::close(stranger);
}

// A ticket is good until its group stands: the port is closed then, and the address of the same place the next time
// another one.
TEST_P(Groups, ATicketThatComesLateFindsNoPort) {
  auto members = sessions(2);
  std::vector<std::string> addresses;
  for (std::size_t rank = 0; rank < 2; ++rank)
    addresses.push_back(value_or_throw(prepare(members[rank], members.place(rank))));
  auto first = open(members[0], members.place(0), addresses), second = open(members[1], members.place(1), addresses);
  EXPECT_EQ(first.get().to_string(), "OK");
  EXPECT_EQ(second.get().to_string(), "OK");
  for (const auto& address : addresses) {
    auto late = sessions(1);
    auto place = members.place(1);  // with the ticket of the group that stands
    const auto own = value_or_throw(prepare(late[0], place));
    EXPECT_THAT(open(late[0], place, {address, own}, milliseconds{500}).get().to_string(),
                AllOf(HasSubstr("UNAVAILABLE"), HasSubstr("member 0 at " + address)));
  }
}

TEST_P(Groups, ASessionThatClosesEndsWhatIsBeingFormed) {
  auto members = sessions(2);
  const auto own = value_or_throw(prepare(members[0], members.place(0)));
  const auto other = value_or_throw(prepare(members[1], members.place(1)));
  auto forming = open(members[0], members.place(0), {own, other});
  const auto begin = Clock::now();
  members[0].close();
  EXPECT_FALSE(forming.get().ok());
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds{2});
  EXPECT_FALSE(prepare(members[0], members.place(0)).ok());
}

// Processes of their own.
TEST(GroupsOfWorkers, AWorkerThatIsKilledIsNamedWithinASecond) {
  std::array<test::Worker, 3> workers;
  std::vector<std::unique_ptr<proto::Session>> sessions;
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
