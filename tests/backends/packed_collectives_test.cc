// Several all-reduces as one: the same numbers as one after the other, in fewer rounds.
#include <chrono>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/collective/collective_thread.h"
#include "base/error.h"
#include "tests/backends/collective_group.h"

namespace burn::testing {
namespace {

using backends::CollectiveCall;

// Sizes in floats: two small ones, one that is too large to be put with others, one without elements, three small ones.
const std::vector<std::int64_t> kSizes{5, 16, 400, 0, 9, 1, 12};
const backends::DirectLimits kLimits{.piece = 1024, .small = 64};

float number(int rank, std::size_t k, std::int64_t i) {
  return static_cast<float>(rank * 100) + static_cast<float>(k) + static_cast<float>(i % 7);
}

// What each call gave, and the numbers; `missing`: the call without an operand, on member 1.
struct Performed {
  std::vector<Status> statuses;
  std::vector<std::vector<float>> results;
};
Performed perform_all(backends::Collective& member, std::optional<std::size_t> missing = {}) {
  std::vector<std::vector<float>> operands;
  Performed done;
  for (std::size_t k = 0; k < kSizes.size(); ++k) {
    auto& x = operands.emplace_back();
    for (std::int64_t i = 0; i < kSizes[k]; ++i) x.push_back(number(member.rank(), k, i));
    done.results.emplace_back(x.size());
  }
  const ir::Op op = ir::AllReduce{ir::ReduceFn::sum, 0, 1};
  std::vector<ir::TensorType> types;
  for (const auto size : kSizes) types.push_back({ir::DType::f32, {size}});
  std::vector<CollectiveCall> calls;
  for (std::size_t k = 0; k < kSizes.size(); ++k) {
    if (member.rank() == 1 && missing == k)
      calls.push_back({op, types[k], {}, {}, std::make_shared<const Status>(invalid_argument("no operand"))});
    else
      calls.push_back(
          {op, types[k], std::as_bytes(std::span(operands[k])), std::as_writable_bytes(std::span(done.results[k]))});
  }
  done.statuses = member.perform_together(calls);
  return done;
}

void expect_sums(const Performed& done, int members, std::size_t k) {
  ASSERT_TRUE(done.statuses[k].ok()) << done.statuses[k].to_string();
  for (std::int64_t i = 0; i < kSizes[k]; ++i) {
    float sum = 0;
    for (int rank = 0; rank < members; ++rank) sum += number(rank, k, i);
    ASSERT_EQ(done.results[k][static_cast<std::size_t>(i)], sum) << "element " << i << " of " << k;
  }
}

TEST(PackedCollectives, GiveTheSumsOfEach) {
  for (const auto kind : {LinkKind::simulated, LinkKind::sockets}) {
    for (const int size : {1, 2, 4}) {
      SCOPED_TRACE(fmt::format("{} members", size));
      TestGroup group(kind, size, kLimits);
      for (int again = 0; again < 3; ++again) {
        TestGroup::on_threads(group.ranks(), [&](int rank) {
          const auto done = perform_all(group.member(rank));
          ASSERT_EQ(done.statuses.size(), kSizes.size());
          for (std::size_t k = 0; k < kSizes.size(); ++k) expect_sums(done, size, k);
        });
      }
    }
  }
}

TEST(PackedCollectives, FailEachForItself) {
  for (std::size_t missing = 0; missing < kSizes.size(); ++missing) {
    TestGroup group(LinkKind::sockets, 3, kLimits);
    TestGroup::on_threads(group.ranks(), [&](int rank) {
      const auto done = perform_all(group.member(rank), missing);
      for (std::size_t k = 0; k < kSizes.size(); ++k) {
        if (k == missing)
          EXPECT_EQ(done.statuses[k].to_string(), "INVALID_ARGUMENT: member 1: no operand");
        else
          expect_sums(done, 3, k);
      }
    });
  }
}

TEST(PackedCollectives, EndWithTheirGroup) {
  TestGroup group(LinkKind::sockets, 2, kLimits);
  std::thread aborts([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{30});
    group.member(0).abort(cancelled("given up"));
  });
  const auto done = perform_all(group.member(0));
  aborts.join();
  for (const auto& status : done.statuses) EXPECT_EQ(status.to_string(), "CANCELLED: given up");
}

TEST(CollectiveThreads, DoWhatIsBegunInOrder) {
  std::vector<int> done;
  {
    backends::CollectiveThread thread;
    std::uint64_t number = 0;
    for (int i = 0; i < 100; ++i) number = thread.begin([&done, i] { done.push_back(i); });
    thread.wait(number);
    ASSERT_EQ(done.size(), 100U);
    (void)thread.begin([&done] { done.push_back(100); });
    thread.wait();
  }
  for (int i = 0; i <= 100; ++i) EXPECT_EQ(done[static_cast<std::size_t>(i)], i);
}

}  // namespace
}  // namespace burn::testing
