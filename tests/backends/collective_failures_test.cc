// Collectives whose members fail, end, leave, are lost or keep to no rule.
#include <atomic>
#include <filesystem>
#include <random>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/backends/collective_contract.h"
#include "tests/support/heap_in_use.h"

namespace burn::testing {
namespace {

// --- members without an operand --------------------------------------------------------------------------------------

TEST_P(CollectiveContract, AMemberWithoutAnOperandFailsTheResultOnAllAndTheGroupGoesOn) {
  auto members = group({.piece = 64, .small = 16});
  const TensorType type{DType::f32, {std::int64_t{3} * size(), 40}};
  const Dims sizes = even();
  const auto ops = [&](int rank) {
    return std::vector<ir::Op>{ir::AllReduce{}, ir::ReduceScatter{ReduceFn::sum, 0, sizes, rank}};
  };
  const auto why = Status{StatusCode::out_of_range, "gather: index 12 is outside 0..9"};
  const int failing = size() - 1;
  TestGroup::on_threads(members.ranks(), [&](int rank) {
    for (const auto& op : ops(rank)) {
      const auto status = rank == failing ? take_part(members.member(rank), op, type, why)
                                          : perform(members.member(rank), op, numbers(type, 1)).status();
      EXPECT_EQ(status.code(), StatusCode::out_of_range);
      EXPECT_EQ(status.message(),
                size() == 1 ? why.message() : fmt::format("member {}: gather: index 12 is outside 0..9", failing));
    }
  });
  expect_reduced(members, ReduceFn::sum, type);
}

TEST_P(CollectiveContract, TheLowestRankOfThoseWithoutAnOperandIsNamed) {
  if (size() < 3) GTEST_SKIP() << "needs three members";
  auto members = group();
  const TensorType type{DType::f32, {4}};
  TestGroup::on_threads(members.ranks(), [&](int rank) {
    const auto status = rank == 0 ? perform(members.member(rank), ir::AllReduce{}, numbers(type, 1)).status()
                                  : take_part(members.member(rank), ir::AllReduce{}, type,
                                              invalid_argument(fmt::format("reason {}", rank)));
    EXPECT_EQ(status.to_string(), "INVALID_ARGUMENT: member 1: reason 1");
  });
}

// --- the end of a group ----------------------------------------------------------------------------------------------

TEST_P(CollectiveContract, AbortEndsWhatWaitsAndWhatIsToCome) {
  if (size() == 1) GTEST_SKIP() << "waits for nothing";
  auto members = group();
  auto waiting = members.ranks();
  waiting.pop_back();
  std::thread aborts([&] {
    std::this_thread::sleep_for(milliseconds{30});
    members.member(0).abort(cancelled("the coordinator has given up"));
  });
  const auto begin = Clock::now();
  TestGroup::on_threads(waiting, [&](int rank) {
    for (int again = 0; again < 2; ++again) {
      const auto made = perform(members.member(rank), ir::AllReduce{}, numbers({DType::f32, {9}}, 1));
      EXPECT_EQ(made.status().to_string(), rank == 0 ? "CANCELLED: the coordinator has given up"
                                                     : "CANCELLED: member 0: the coordinator has given up");
    }
  });
  aborts.join();
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds{1});
  // The member that did not wait learns it with its next one.
  const auto last = perform(members.member(size() - 1), ir::AllReduce{}, numbers({DType::f32, {9}}, 1));
  EXPECT_THAT(last.status().to_string(), HasSubstr("member 0: the coordinator has given up"));
}

TEST_P(CollectiveContract, AMemberThatIsGoneIsNamedWithinASecond) {
  if (size() == 1) GTEST_SKIP() << "waits for nothing";
  auto members = group();
  auto waiting = members.ranks();
  const int gone = size() / 2;
  std::erase(waiting, gone);
  std::thread vanishes([&] {
    std::this_thread::sleep_for(milliseconds{30});
    members.vanish(gone);
  });
  const auto begin = Clock::now();
  TestGroup::on_threads(waiting, [&](int rank) {
    const auto made = perform(members.member(rank), ir::AllReduce{}, numbers({DType::f32, {100'000}}, 1));
    EXPECT_EQ(made.status().to_string(), fmt::format("UNAVAILABLE: member {} left the group", gone));
  });
  vanishes.join();
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds{1});
}

TEST_P(CollectiveContract, AMemberThatLeavesHasDoneItsPart) {
  if (size() == 1) GTEST_SKIP() << "waits for nothing";
  for (int again = 0; again < 20; ++again) {
    auto members = group();
    TestGroup::on_threads(members.ranks(), [&](int rank) {
      const auto made = perform(members.member(rank), ir::AllReduce{}, numbers({DType::f32, {1000}}, 1));
      EXPECT_TRUE(made.ok()) << made.status().to_string();
      members.member(rank).leave(cancelled("done"));
      EXPECT_EQ(members.member(rank).health().to_string(), "CANCELLED: done");
    });
  }
}

TEST_P(CollectiveContract, ARunThatIsOverItsTimeNamesTheMemberItWaitsFor) {
  if (size() == 1) GTEST_SKIP() << "waits for nothing";
  auto members = group();
  auto waiting = members.ranks();
  waiting.pop_back();
  TestGroup::on_threads(waiting, [&](int rank) {
    backends::Interrupt interrupt;
    interrupt.begin_run(rank == 0 ? milliseconds{50} : milliseconds{0});
    const backends::InterruptScope scope(&interrupt);
    const auto made = perform(members.member(rank), ir::AllReduce{}, numbers({DType::f32, {9}}, 1));
    EXPECT_EQ(made.status().code(), StatusCode::deadline_exceeded);
    const auto waits = fmt::format("50 ms that one may; it was waiting for member {}", size() - 1);
    EXPECT_THAT(made.status().message(), HasSubstr(waits));
    EXPECT_EQ(made.status().message().starts_with("member 0: "), rank != 0) << made.status().message();
  });
}

TEST_P(CollectiveContract, AnInterruptEndsAWaitingMemberAndTheGroup) {
  if (size() == 1) GTEST_SKIP() << "waits for nothing";
  auto members = group();
  backends::Interrupt interrupt;
  std::thread interrupts([&] {
    std::this_thread::sleep_for(milliseconds{30});
    interrupt.request();
  });
  TestGroup::on_threads({0}, [&](int) {
    const backends::InterruptScope scope(&interrupt);
    const auto made = perform(members.member(0), ir::AllReduce{}, numbers({DType::f32, {9}}, 1));
    EXPECT_EQ(made.status().code(), StatusCode::cancelled);
  });
  interrupts.join();
  const auto other = perform(members.member(1), ir::AllReduce{}, numbers({DType::f32, {9}}, 1));
  EXPECT_EQ(other.status().code(), StatusCode::cancelled);
  EXPECT_THAT(other.status().message(), HasSubstr("member 0: the run was cancelled"));
}

TEST_P(CollectiveContract, MembersThatPerformDifferentCollectivesAreTold) {
  if (size() == 1) GTEST_SKIP() << "there are no others";
  const TensorType type{DType::f32, {4}};
  const std::vector<std::pair<ir::Op, TensorType>> others = {
      {ir::AllReduce{ReduceFn::max}, type},
      {ir::AllReduce{}, {DType::f32, {5}}},
      {ir::AllReduce{}, {DType::i32, {4}}},
      {ir::AllReduce{ReduceFn::sum, 3}, type},
      {ir::AllGather{0, Dims::filled(size(), 4), 0}, type},
  };
  for (const auto& [op, other] : others) {
    auto members = group();
    TestGroup::on_threads(members.ranks(), [&, &op = op, &other = other](int rank) {
      const auto made = rank == 0 ? perform(members.member(rank), op, numbers(other, 1))
                                  : perform(members.member(rank), ir::AllReduce{}, numbers(type, 1));
      EXPECT_EQ(made.status().code(), StatusCode::failed_precondition) << made.status().to_string();
      EXPECT_THAT(made.status().message(), HasSubstr("performs another collective"));
    });
  }
}

TEST_P(CollectiveContract, AProgramOfAnotherMemberIsRefused) {
  auto members = group();
  const auto made =
      perform(members.member(0), ir::AllGather{0, Dims::filled(size() + 1, 2), size()}, numbers({DType::f32, {2}}, 1));
  EXPECT_EQ(made.status().to_string(),
            fmt::format("FAILED_PRECONDITION: the program is of member {} of {}, the session is member 0 of {}", size(),
                        size() + 1, size()));
}

// Wherever in a collective a member is lost, the others end, and name it.
TEST(CollectiveFaults, AMemberMayBeLostAfterAnyByte) {
  const TensorType type{DType::f32, {20}};
  for (std::size_t bytes = 1; bytes < 400; bytes += 7) {
    TestGroup members(LinkKind::simulated, 3, {.piece = 48, .small = 8});
    members.simulated()->vanish_after(1, bytes);
    TestGroup::on_threads(members.ranks(), [&](int rank) {
      const auto made = perform(members.member(rank), ir::AllReduce{}, numbers(type, 1));
      if (made.ok()) return;  // it had sent all that this member needs
      EXPECT_EQ(made.status().code(), StatusCode::unavailable);
      if (rank == 1) return;
      EXPECT_THAT(made.status().message(), HasSubstr("member 1 left the group")) << bytes;
    });
  }
}

std::ptrdiff_t open_files() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator{});
}

TEST(CollectiveFaults, GroupsThatAreAbortedAtAnyTimeLeaveNothingBehind) {
  const auto before = open_files();
  for (int i = 0; i < 100; ++i) {
    TestGroup members(LinkKind::sockets, 2, {.piece = 4096, .small = 64});
    std::thread aborts([&] {
      std::this_thread::sleep_for(std::chrono::microseconds{i * 37 % 1500});
      members.member(i % 2).abort(cancelled("enough"));
    });
    TestGroup::on_threads(members.ranks(), [&](int rank) {
      Status status;
      while (status.ok())
        status = perform(members.member(rank), ir::AllReduce{}, numbers({DType::f32, {3000}}, 1)).status();
      EXPECT_EQ(status.code(), StatusCode::cancelled);
      EXPECT_THAT(status.message(), HasSubstr("enough"));
    });
    aborts.join();
  }
  EXPECT_EQ(open_files(), before);
}

// Ten thousand in a row, by groups of which each is aborted at a random time.
TEST(CollectiveFaults, TenThousandInGroupsThatAreAbortedAtRandomLeaveNoMemoryAndNoFiles) {
  std::mt19937 random{7};
  const auto perform_and_abort = [&] {
    TestGroup members(LinkKind::sockets, 2 + static_cast<int>(random() % 2), {.piece = 4096, .small = 64});
    const std::chrono::microseconds life{random() % 20'000};
    const int aborting = static_cast<int>(random() % static_cast<unsigned>(members.size()));
    std::thread aborts([&] {
      std::this_thread::sleep_for(life);
      members.member(aborting).abort(cancelled("enough"));
    });
    std::atomic<int> performed = 0;
    TestGroup::on_threads(members.ranks(), [&](int rank) {
      const auto x = numbers({DType::f32, {300}}, static_cast<std::uint64_t>(rank));
      while (perform(members.member(rank), ir::AllReduce{}, x).ok()) performed += rank == 0 ? 1 : 0;
    });
    aborts.join();
    return performed.load();
  };
  for (int i = 0; i < 20; ++i) perform_and_abort();  // what is made once
  const auto files = open_files();
  const auto memory = test::heap_in_use();
  for (int performed = 0; performed < 10'000;) performed += perform_and_abort();
  EXPECT_EQ(open_files(), files);
  EXPECT_LT(test::heap_in_use() - memory, std::ptrdiff_t{64} << 10);
}

// What a peer sends that knows the ticket and keeps to no rule: one clear failure, whatever it is.
TEST(CollectiveFaults, BytesThatMakeNoSenseEndTheGroup) {
  struct Header {
    std::uint32_t magic = 0x4c4f4342, code = 0;
    std::uint64_t number = 0, what = 0, size = 0;
  };
  const auto told = [](const Header& header) {
    SimulatedGroup group(2);
    const auto peer = group.links(1);
    const auto member = backends::make_direct_collective(group.links(0));
    Header copy = header;
    const iovec bytes{&copy, sizeof copy};
    EXPECT_EQ(value_or_throw(peer->send(0, {&bytes, 1})), sizeof copy);
    return perform(*member, ir::AllReduce{}, numbers({DType::f32, {4}}, 1)).status().to_string();
  };
  EXPECT_EQ(told({.magic = 7}), "INVALID_ARGUMENT: what member 1 sends makes no sense");
  EXPECT_EQ(told({.code = 17}), "INVALID_ARGUMENT: what member 1 sends makes no sense");
  EXPECT_THAT(told({.number = 1}), HasSubstr("member 1 performs another collective than this one"));
  EXPECT_THAT(told({.what = 1, .size = ~std::uint64_t{0}}), HasSubstr("member 1 performs another collective"));

  // The same hash, and other sizes.
  const auto with_hash_of_an_honest_member = [&](Header header) {
    SimulatedGroup honest(2);
    const auto listener = honest.links(1);
    std::thread performs([&] {
      const auto member = backends::make_direct_collective(honest.links(0));
      backends::Interrupt interrupt;
      interrupt.begin_run(milliseconds{50});
      const backends::InterruptScope scope(&interrupt);
      (void)perform(*member, ir::AllReduce{}, numbers({DType::f32, {4}}, 1));
    });
    Header seen;
    const iovec place{&seen, sizeof seen};
    const std::vector<backends::Links::Wanted> wanted{{.to_receive = true}, {}};
    EXPECT_TRUE(listener->wait(wanted, std::chrono::seconds{10}).ok());
    EXPECT_EQ(value_or_throw(listener->receive(0, {&place, 1})), sizeof seen);
    performs.join();
    header.what = seen.what;
    return told(header);
  };
  EXPECT_THAT(with_hash_of_an_honest_member({.size = 17}), HasSubstr("member 1 sends 17 bytes where 16 are due"));
  EXPECT_THAT(with_hash_of_an_honest_member({.code = 3, .size = 1 << 30}), HasSubstr("bytes where 1024 are due"));
}

}  // namespace
}  // namespace burn::testing
