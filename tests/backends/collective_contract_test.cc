// What every implementation of Links has to do for the collectives that run over it.
#include <chrono>
#include <filesystem>
#include <numeric>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/interrupt.h"
#include "base/error.h"
#include "ir/enums.h"
#include "tests/backends/collective_group.h"

namespace burn::testing {
namespace {

using ir::Dims, ir::DType, ir::ReduceFn, ir::Shape, ir::TensorType;
using reference::Tensor;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr DType kAll[] = {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32,  DType::i16,
                          DType::i8,  DType::u64, DType::u32, DType::u16,  DType::u8,  DType::bool_};

// Small whole numbers, which every dtype has and adds exactly; another sequence for each seed.
Tensor numbers(const TensorType& type, std::uint64_t seed) {
  Tensor x(type);
  reference::visit_kind(type.dtype, [&]<typename T>() {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto number = (i * 7 + seed * 5 + i * seed) % 4;
      if constexpr (std::is_same_v<T, bool>)
        x.set<T>(i, number == 0);
      else
        x.set<T>(i, static_cast<T>(number));
    }
  });
  return x;
}

// The elements [begin, begin + size) along a dim.
Tensor part(const Tensor& x, int dim, std::int64_t begin, std::int64_t size) {
  auto type = x.type;
  type.shape[dim] = size;
  Tensor y(type);
  reference::for_each_index(type.shape, [&](const Dims& index) {
    auto from = index;
    from[dim] += begin;
    y.bits[reference::position(type.shape, index)] = x.bits[reference::position(x.type.shape, from)];
  });
  return y;
}

std::int64_t begin_of(const Dims& sizes, int rank) {
  std::int64_t begin = 0;
  for (int i = 0; i < rank; ++i) begin += sizes[i];
  return begin;
}

// What the members' values combine to.
Tensor combined(ReduceFn fn, const std::vector<Tensor>& values) {
  auto total = values[0];
  reference::visit_kind(total.type.dtype, [&]<typename T>() {
    for (std::size_t m = 1; m < values.size(); ++m) {
      for (std::size_t i = 0; i < total.size(); ++i) {
        const T a = total.get<T>(i), b = values[m].get<T>(i);
        if (fn == ReduceFn::sum) total.set<T>(i, static_cast<T>(a + b));
        if (fn == ReduceFn::prod) total.set<T>(i, static_cast<T>(a * b));
        if (fn == ReduceFn::max) total.set<T>(i, reference::larger(a, b));
        if (fn == ReduceFn::min) total.set<T>(i, reference::smaller(a, b));
      }
    }
  });
  return total;
}

struct Case {
  std::string name;
  LinkKind kind;
  int size;
};

class CollectiveContract : public ::testing::TestWithParam<Case> {
 protected:
  int size() const { return GetParam().size; }
  TestGroup group(const backends::DirectLimits& limits = {}) const { return {GetParam().kind, size(), limits}; }

  // Values that are not the same on any two members.
  std::vector<Tensor> values(const TensorType& type) const {
    std::vector<Tensor> all;
    for (int rank = 0; rank < size(); ++rank) all.push_back(numbers(type, static_cast<std::uint64_t>(rank) + 1));
    return all;
  }
  // Parts of 0, 2, 4, ... elements.
  Dims uneven() const {
    Dims sizes;
    for (int rank = 0; rank < size(); ++rank) sizes.push_back(2 * rank);
    return sizes;
  }
  Dims even() const { return Dims::filled(size(), 3); }
  static std::int64_t sum(const Dims& sizes) { return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}); }

  // Every member performs what it is given here, and gets what is expected of it.
  template <typename OpOf, typename OperandOf, typename ExpectedOf>
  void expect(TestGroup& group, const OpOf& op_of, const OperandOf& operand_of, const ExpectedOf& expected_of) {
    TestGroup::on_threads(group.ranks(), [&](int rank) {
      const auto made = perform(group.member(rank), op_of(rank), operand_of(rank));
      ASSERT_TRUE(made.ok()) << made.status().to_string();
      const Tensor expected = expected_of(rank);
      ASSERT_EQ(made->type, expected.type);
      EXPECT_EQ(reference::to_bytes(*made), reference::to_bytes(expected)) << "rank " << rank;
    });
  }

  void expect_reduced(TestGroup& group, ReduceFn fn, const TensorType& type) {
    const auto all = values(type);
    const auto total = combined(fn, all);
    const auto operand = [&](int rank) { return all[static_cast<std::size_t>(rank)]; };
    expect(
        group, [&](int) { return ir::AllReduce{fn}; }, operand, [&](int) { return total; });
  }
};

// --- what they compute -----------------------------------------------------------------------------------------------

TEST_P(CollectiveContract, AllReduceCombinesEveryDtypeByEveryFunction) {
  auto members = group();
  for (const auto dtype : kAll) {
    for (const auto fn : {ReduceFn::sum, ReduceFn::prod, ReduceFn::max, ReduceFn::min}) {
      if (ir::is_bool(dtype) && (fn == ReduceFn::sum || fn == ReduceFn::prod)) continue;
      SCOPED_TRACE(fmt::format("{} {}", ir::name(dtype), ir::name(fn)));
      expect_reduced(members, fn, {dtype, {3, 5}});
    }
  }
}

TEST_P(CollectiveContract, AllReduceOfAnySizeGoesInPieces) {
  auto members = group({.piece = 256, .small = 16});
  for (const std::int64_t count : {0, 1, 2, 3, 4, 5, 63, 64, 65, 128, 200, 1000}) {
    SCOPED_TRACE(count);
    expect_reduced(members, ReduceFn::sum, {DType::f32, {count}});
    expect_reduced(members, ReduceFn::max, {DType::i16, {count}});
  }
  expect_reduced(members, ReduceFn::sum, {DType::f64, {}});
}

TEST_P(CollectiveContract, SixteenBitFloatsAccumulateInSingle) {
  if (size() < 3) GTEST_SKIP() << "needs three members";
  auto members = group();
  for (const auto& [dtype, large] : {std::pair(DType::bf16, 256.0), std::pair(DType::f16, 2048.0)}) {
    Tensor first({dtype, {1}}), second({dtype, {1}}), third({dtype, {1}}), total({dtype, {1}});
    first.set(0, large), second.set(0, 1.0), third.set(0, 1.0), total.set(0, large + 2);
    const std::vector<Tensor> all{first, second, third};
    expect(
        members, [](int) { return ir::AllReduce{}; }, [&](int rank) { return all[static_cast<std::size_t>(rank)]; },
        [&](int) { return total; });
  }
}

TEST_P(CollectiveContract, WholeNumbersWrap) {
  auto members = group();
  Tensor x({DType::i8, {1}}), total({DType::i8, {1}});
  x.set(0, std::int64_t{100});
  total.set(0, std::int64_t{100} * size());
  expect(
      members, [](int) { return ir::AllReduce{}; }, [&](int) { return x; }, [&](int) { return total; });
}

TEST_P(CollectiveContract, AllMembersGetTheSameBitsOfSumsThatDependOnTheirOrder) {
  auto members = group({.piece = 4096, .small = 64});
  std::vector<std::vector<std::byte>> results(static_cast<std::size_t>(size()));
  const TensorType type{DType::f32, {5000}};
  TestGroup::on_threads(members.ranks(), [&](int rank) {
    Tensor x(type);
    for (std::size_t i = 0; i < x.size(); ++i) x.set(i, 1.0 / (3.0 + static_cast<double>(i * 7919 % 1000) + rank));
    const auto made = perform(members.member(rank), ir::AllReduce{}, x);
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    results[static_cast<std::size_t>(rank)] = reference::to_bytes(*made);
  });
  for (const auto& result : results) EXPECT_EQ(result, results[0]);
}

TEST_P(CollectiveContract, ReduceScatterGivesEachMemberItsPart) {
  for (const auto& limits : {backends::DirectLimits{}, backends::DirectLimits{.piece = 64, .small = 0}}) {
    auto members = group(limits);
    for (const auto& sizes : {even(), uneven()}) {
      for (const int dim : {0, 1, 2}) {
        SCOPED_TRACE(fmt::format("{} along {}", to_string(sizes), dim));
        TensorType type{DType::f16, {2, 3, 4}};
        type.shape[dim] = sum(sizes);
        const auto all = values(type);
        const auto total = combined(ReduceFn::sum, all);
        expect(
            members,
            [&](int rank) {
              return ir::ReduceScatter{ReduceFn::sum, dim, sizes, rank};
            },
            [&](int rank) { return all[static_cast<std::size_t>(rank)]; },
            [&](int rank) { return part(total, dim, begin_of(sizes, rank), sizes[rank]); });
      }
    }
  }
}

TEST_P(CollectiveContract, AllGatherPutsThePartsBehindEachOther) {
  auto members = group();
  for (const auto& sizes : {even(), uneven()}) {
    for (const int dim : {0, 1, 2}) {
      SCOPED_TRACE(fmt::format("{} along {}", to_string(sizes), dim));
      TensorType type{DType::i32, {2, 3, 4}};
      type.shape[dim] = sum(sizes);
      const auto all = numbers(type, 9);
      expect(
          members,
          [&](int rank) {
            return ir::AllGather{dim, sizes, rank};
          },
          [&](int rank) { return part(all, dim, begin_of(sizes, rank), sizes[rank]); }, [&](int) { return all; });
    }
  }
}

TEST_P(CollectiveContract, AllToAllSplitsAlongAnotherDim) {
  auto members = group();
  for (const auto& [from, to] : {std::pair(0, 1), std::pair(1, 0), std::pair(0, 2), std::pair(2, 1)}) {
    SCOPED_TRACE(fmt::format("from {} to {}", from, to));
    const auto from_sizes = even(), sizes = uneven();
    TensorType type{DType::u8, {2, 3, 4}};
    type.shape[from] = sum(from_sizes);
    type.shape[to] = sum(sizes);
    const auto all = numbers(type, 3);
    expect(
        members,
        [&, from = from, to = to](int rank) {
          return ir::AllToAll{from, from_sizes, to, sizes, rank};
        },
        [&, from = from](int rank) { return part(all, from, begin_of(from_sizes, rank), from_sizes[rank]); },
        [&, to = to](int rank) { return part(all, to, begin_of(sizes, rank), sizes[rank]); });
  }
}

TEST_P(CollectiveContract, AllToAllMovesTheBoundsOfADim) {
  auto members = group();
  const auto before = uneven();
  auto after = Dims::filled(size(), 0);  // all of it to the first member but for an element of the last
  after[0] = sum(before);
  if (size() > 1) after[0] -= 1, after[size() - 1] = 1;
  for (const int dim : {0, 1}) {
    for (const auto& [from, to] : {std::pair(before, after), std::pair(after, before), std::pair(before, before)}) {
      TensorType type{DType::f32, {2, 3}};
      type.shape[dim] = sum(before);
      const auto all = numbers(type, 4);
      expect(
          members,
          [&, &from = from, &to = to](int rank) {
            return ir::AllToAll{dim, from, dim, to, rank};
          },
          [&, &from = from](int rank) { return part(all, dim, begin_of(from, rank), from[rank]); },
          [&, &to = to](int rank) { return part(all, dim, begin_of(to, rank), to[rank]); });
    }
  }
}

TEST_P(CollectiveContract, TwoThousandSmallOnesInARow) {
  auto members = group();
  TestGroup::on_threads(members.ranks(), [&](int rank) {
    for (int i = 0; i < 2000; ++i) {
      Tensor x({DType::i32, {2}});
      x.set(0, std::int64_t{rank}), x.set(1, std::int64_t{i});
      const auto made = perform(members.member(rank), ir::AllReduce{}, x);
      ASSERT_TRUE(made.ok()) << made.status().to_string();
      ASSERT_EQ(made->get<std::int64_t>(0), size() * (size() - 1) / 2);
      ASSERT_EQ(made->get<std::int64_t>(1), std::int64_t{i} * size());
    }
  });
}

TEST_P(CollectiveContract, MegabytesGoThrough) {
  auto members = group();
  if (members.simulated()) GTEST_SKIP() << "byte by byte";
  expect_reduced(members, ReduceFn::sum, {DType::f32, {3'000'001}});
  const Dims sizes = Dims::filled(size(), 500'000);
  const auto all = numbers({DType::f32, {2, sum(sizes)}}, 1);
  expect(
      members,
      [&](int rank) {
        return ir::AllGather{1, sizes, rank};
      },
      [&](int rank) { return part(all, 1, begin_of(sizes, rank), sizes[rank]); }, [&](int) { return all; });
}

// --- members without an operand --------------------------------------------------------------------------------------

TEST_P(CollectiveContract, AMemberWithoutAnOperandFailsTheResultOnAllAndTheGroupGoesOn) {
  auto members = group({.piece = 64, .small = 16});
  const TensorType type{DType::f32, {size() * 3, 40}};
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

INSTANTIATE_TEST_SUITE_P(
    Links, CollectiveContract,
    ::testing::Values(Case{"one_alone", LinkKind::simulated, 1}, Case{"two_simulated", LinkKind::simulated, 2},
                      Case{"three_simulated", LinkKind::simulated, 3}, Case{"one_by_sockets", LinkKind::sockets, 1},
                      Case{"two_by_sockets", LinkKind::sockets, 2}, Case{"three_by_sockets", LinkKind::sockets, 3}),
    [](const auto& info) { return info.param.name; });

// --- faults ----------------------------------------------------------------------------------------------------------

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
