// Groups whose collectives are NCCL's, with a fake of NCCL: how they form, and how they end.
#include "backends/cuda/libraries/nccl_group.h"

#include <chrono>
#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/collective/direct_collective.h"
#include "tests/backends/cuda/fake_nccl.h"
#include "tests/support/simulated_links.h"

namespace burn::testing {
namespace {

using backends::cuda::Nccl, backends::cuda::NcclGroup, backends::cuda::NcclResult;
using std::chrono::milliseconds, std::chrono::seconds;
using ::testing::Each, ::testing::HasSubstr, ::testing::SizeIs;
using Joined = Result<std::shared_ptr<NcclGroup>>;

// Members in this process, which all join at the same time.
class Members {
 public:
  explicit Members(int size) : links_(size) {
    for (int rank = 0; rank < size; ++rank) directs_.push_back(backends::make_direct_collective(links_.links(rank)));
  }

  backends::Collective& direct(std::size_t rank) { return *directs_[rank]; }
  void vanish(int rank) { links_.vanish(rank); }
  // `missing`: of this rank there is no library.
  std::vector<Joined> join(const FakeNccl& nccl, milliseconds deadline = seconds{20}, int missing = -1) {
    std::vector<std::future<Joined>> all;
    for (std::size_t rank = 0; rank < directs_.size(); ++rank) {
      all.push_back(std::async(std::launch::async, [&, rank] {
        const bool is_there = static_cast<int>(rank) != missing;
        const Result<const Nccl*> library =
            is_there ? Result<const Nccl*>(&nccl.table()) : Result<const Nccl*>(unimplemented("libnccl is not there"));
        return NcclGroup::join(
            library, directs_[rank], [] {}, deadline);
      }));
    }
    std::vector<Joined> joined;
    for (auto& one : all) joined.push_back(one.get());
    return joined;
  }

 private:
  SimulatedGroup links_;
  std::vector<std::shared_ptr<backends::Collective>> directs_;
};

// Waits until nothing may be begun any more.
Status end_of(NcclGroup& group) {
  for (int i = 0; i < 500 && group.health().ok(); ++i) std::this_thread::sleep_for(milliseconds{10});
  return group.health();
}

TEST(NcclGroup, ItsMembersConnectByTheIdThatTheFirstHasMade) {
  FakeNccl nccl;
  Members members(3);
  {
    const auto joined = members.join(nccl);
    for (std::size_t rank = 0; rank < 3; ++rank) {
      ASSERT_TRUE(joined[rank].ok()) << joined[rank].status().to_string();
      EXPECT_EQ((*joined[rank])->rank(), static_cast<int>(rank));
      EXPECT_EQ((*joined[rank])->size(), 3);
      EXPECT_TRUE((*joined[rank])->health().ok());
    }
    EXPECT_THAT(nccl.ids(), SizeIs(3));
    EXPECT_THAT(nccl.ids(), Each("an id that rank 0 has made"));
  }
  EXPECT_EQ(nccl.aborted(), 3u) << "a group that is not used any more has ended";
}

TEST(NcclGroup, AnInitThatNeverEndsIsOverAtTheDeadline) {
  FakeNccl nccl;
  nccl.never_connects();
  Members members(2);
  for (const auto& joined : members.join(nccl, milliseconds{200}))
    EXPECT_EQ(joined.status().code(), StatusCode::deadline_exceeded) << joined.status().to_string();
  EXPECT_TRUE(nccl.waits_for_aborts(2));
}

TEST(NcclGroup, AnAbortWhileItConnectsEndsEveryMember) {
  FakeNccl nccl;
  nccl.never_connects();
  Members members(3);
  const auto aborted = std::async(std::launch::async, [&] {
    std::this_thread::sleep_for(milliseconds{100});
    members.direct(1).abort(cancelled("the coordinator gave up"));
  });
  for (const auto& joined : members.join(nccl)) EXPECT_THAT(joined.status().message(), HasSubstr("gave up"));
  EXPECT_TRUE(nccl.waits_for_aborts(3));
}

TEST(NcclGroup, AMemberWithoutTheLibraryFailsAllWithItsName) {
  FakeNccl nccl;
  Members members(2);
  for (const auto& joined : members.join(nccl, seconds{20}, 1)) {
    EXPECT_EQ(joined.status().code(), StatusCode::unimplemented);
    EXPECT_THAT(joined.status().message(), HasSubstr("member 1: libnccl is not there"));
  }
  EXPECT_THAT(nccl.ids(), SizeIs(0));
}

TEST(NcclGroup, AnErrorThatIsReportedLateEndsEveryMember) {
  FakeNccl nccl;
  Members members(2);
  const auto joined = members.join(nccl);
  ASSERT_TRUE(joined[0].ok() && joined[1].ok());
  ASSERT_TRUE((*joined[0])->begin_run({}).ok());
  nccl.set_state(1, NcclResult::invalid_usage);
  EXPECT_THAT(end_of(**joined[1]).message(), HasSubstr("an error of the fake"));
  EXPECT_THAT(end_of(**joined[0]).message(), HasSubstr("member 1: NCCL"));
  EXPECT_TRUE(nccl.waits_for_aborts(2));
  EXPECT_THAT((*joined[0])->end_run().message(), HasSubstr("member 1: NCCL")) << "what was computed is of no use";
  EXPECT_FALSE((*joined[0])->begin_run({}).ok());
}

TEST(NcclGroup, ARunThatIsOverSoonAfterAMemberLeftIsSound) {
  FakeNccl nccl;
  Members members(2);
  const auto joined = members.join(nccl);
  ASSERT_TRUE(joined[0].ok() && joined[1].ok());
  ASSERT_TRUE((*joined[0])->begin_run({}).ok());
  (*joined[1])->leave(cancelled("its session is closed"));
  EXPECT_THAT(end_of(**joined[0]).message(), HasSubstr("member 1 left"));
  EXPECT_TRUE((*joined[0])->end_run().ok());
  EXPECT_TRUE(nccl.waits_for_aborts(2));
}

TEST(NcclGroup, ARunThatWaitsForAMemberThatIsGoneIsEndedWithinASecond) {
  FakeNccl nccl;
  Members members(2);
  const auto joined = members.join(nccl);
  ASSERT_TRUE(joined[0].ok() && joined[1].ok());
  ASSERT_TRUE((*joined[0])->begin_run({}).ok());
  const auto start = std::chrono::steady_clock::now();
  members.vanish(1);
  EXPECT_TRUE(nccl.waits_for_aborts(2));
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds{2});
  EXPECT_EQ((*joined[0])->end_run().code(), StatusCode::unavailable);
}

TEST(NcclGroup, ADeviceThatFinishesNoRunInItsTimeEndsTheGroup) {
  FakeNccl nccl;
  Members members(2);
  const auto joined = members.join(nccl);
  ASSERT_TRUE(joined[0].ok() && joined[1].ok());
  ASSERT_TRUE((*joined[0])->begin_run(milliseconds{50}).ok());
  EXPECT_EQ(end_of(**joined[0]).code(), StatusCode::deadline_exceeded);
  EXPECT_EQ(end_of(**joined[1]).code(), StatusCode::deadline_exceeded);
  EXPECT_TRUE(nccl.waits_for_aborts(2));
  EXPECT_FALSE((*joined[0])->end_run().ok());
}

TEST(NcclGroup, WhatIsEnqueuedIsWaitedForUntilTheLibraryHasIt) {
  FakeNccl nccl;
  Members members(1);
  const auto joined = members.join(nccl);
  ASSERT_TRUE(joined[0].ok()) << joined[0].status().to_string();
  nccl.set_state(0, NcclResult::in_progress);
  auto taken = std::async(std::launch::async, [&] {
    return (*joined[0])->enqueue("all_reduce", [](const Nccl&, auto) { return NcclResult::in_progress; });
  });
  EXPECT_EQ(taken.wait_for(milliseconds{50}), std::future_status::timeout);
  nccl.set_state(0, NcclResult::success);
  EXPECT_TRUE(taken.get().ok());
  EXPECT_THAT(
      (*joined[0])->enqueue("all_reduce", [](const Nccl&, auto) { return NcclResult::invalid_argument; }).message(),
      HasSubstr("NCCL: all_reduce: an error of the fake (4)"));
}

}  // namespace
}  // namespace burn::testing
