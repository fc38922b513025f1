// When a worker gives memory back, and how much of it.
#include "session/housekeeper.h"

#include <future>

#include <gtest/gtest.h>
#include <time.h>

#include "backends/registry/registry.h"
#include "base/error.h"
#include "base/host_block.h"
#include "session/local_session.h"
#include "tests/session/fake_backend.h"
#include "tests/session/programs.h"

namespace burn::session {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

struct Trim {
  std::uint64_t keep;
  milliseconds unused_for;
};

class HousekeeperTest : public ::testing::Test {
 protected:
  HousekeeperTest() {
    device_->on_trim = [this](std::uint64_t keep, milliseconds unused_for) {
      const std::lock_guard lock{mutex_};
      trims_.push_back({keep, unused_for});
      changed_.notify_all();
      return std::uint64_t{0};
    };
  }

  std::shared_ptr<Worker> worker(const IdleMemory& idle) { return Worker::create(make_fake_backend(device_), idle); }
  // What was asked of the backend, once it was asked so often, or after a while.
  std::vector<Trim> trims(std::size_t count, milliseconds patience = milliseconds{5000}) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, patience, [&] { return trims_.size() >= count; });
    return trims_;
  }

  std::shared_ptr<FakeDevice> device_ = std::make_shared<FakeDevice>();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Trim> trims_;
};

constexpr IdleMemory kSoon{.bytes = 1000,
                           .after_sessions = milliseconds{20},
                           .after_use = milliseconds{70},
                           .between_looks = milliseconds{10}};
constexpr IdleMemory kNeverWhileThereAreSessions{
    .bytes = 1000, .after_sessions = milliseconds{20}, .between_looks = std::chrono::hours{1}};

TEST_F(HousekeeperTest, PlansCountForTheAllowanceWhenTheLastSessionIsGone) {
  auto idle = kNeverWhileThereAreSessions;
  idle.bytes = 10'000;  // a plan of the fake device is of 1,000 and what its program takes
  const auto worker = this->worker(idle);
  auto session = make_local_session(worker);
  for (proto::ProgramId id = 1; id <= 20; ++id)
    ASSERT_TRUE(session->define(id, add_program({static_cast<std::int64_t>(id)}), {}).ok());
  std::promise<Status> done;
  session->sync([&](Status status) { done.set_value(std::move(status)); });
  ASSERT_TRUE(done.get_future().get().ok());
  EXPECT_EQ(worker->stats().plans, 20u);
  session.reset();
  const auto trims = this->trims(1);
  ASSERT_EQ(trims.size(), 1u);
  const auto left = worker->stats().plan_bytes;
  EXPECT_GT(left, 0u);
  EXPECT_LE(left, idle.bytes / 2);
  EXPECT_EQ(trims[0].keep, idle.bytes - left);
}

TEST_F(HousekeeperTest, GivesAllButTheAllowanceBackWhenTheLastSessionIsGone) {
  const auto worker = this->worker(kNeverWhileThereAreSessions);
  auto first = make_local_session(worker), second = make_local_session(worker);
  second.reset();
  EXPECT_TRUE(trims(1, milliseconds{60}).empty());
  first.reset();
  const auto seen = trims(1);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].keep, 1000u);
  EXPECT_EQ(seen[0].unused_for, milliseconds{0});
  EXPECT_EQ(trims(2, milliseconds{60}).size(), 1u);  // and sleeps
  make_local_session(worker);
  EXPECT_EQ(trims(2).size(), 2u);  // until the next has gone
}

TEST_F(HousekeeperTest, LeavesAWorkerAloneThatIsUsedAgainAtOnce) {
  auto idle = kNeverWhileThereAreSessions;
  idle.after_sessions = milliseconds{400};
  const auto worker = this->worker(idle);
  for (int i = 0; i < 20; ++i) make_local_session(worker);
  const auto session = make_local_session(worker);
  EXPECT_TRUE(trims(1, milliseconds{500}).empty());
  EXPECT_EQ(worker->stats().sessions, 1u);
}

TEST_F(HousekeeperTest, LooksForWhatLivingSessionsDoNotUse) {
  const auto worker = this->worker(kSoon);
  const auto session = make_local_session(worker);
  const auto seen = trims(3);
  ASSERT_GE(seen.size(), 3u);
  for (const auto& trim : seen) {
    EXPECT_EQ(trim.keep, 1000u);
    EXPECT_EQ(trim.unused_for, milliseconds{70});
  }
}

TEST_F(HousekeeperTest, LetsTheCpuShrinkUnderASessionThatNeedsLessThanItDid) {
  auto worker = Worker::create(value_or_throw(backends::open_backend("cpu")), kSoon);
  const auto session = make_local_session(worker);
  auto& backend = worker->backend();
  const auto living = value_or_throw(backend.host_block(1000));
  { const auto large = value_or_throw(backend.host_block(std::size_t{100} << 20)); }
  const auto idle = [&] { return backend.memory().reserved - backend.memory().in_use; };
  for (int i = 0; i < 500 && idle() > kSoon.bytes; ++i) std::this_thread::sleep_for(milliseconds{10});
  EXPECT_LE(idle(), kSoon.bytes);
}

TEST_F(HousekeeperTest, GivesBackWhatUploadsWereReceivedInto) {
  const auto worker = this->worker(kNeverWhileThereAreSessions);
  auto session = make_local_session(worker);
  { const auto block = host_block(std::size_t{32} << 20); }
  session.reset();
  (void)trims(1);
  for (int i = 0; i < 500 && kept_host_bytes() > 0; ++i) std::this_thread::sleep_for(milliseconds{10});
  EXPECT_EQ(kept_host_bytes(), 0u);
}

TEST_F(HousekeeperTest, TakesNoTimeOfTheProcessorToWait) {
  const auto worker = this->worker({});
  const auto session = make_local_session(worker);
  const auto cpu = [] {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
  };
  const double before = cpu();
  std::this_thread::sleep_for(milliseconds{300});
  EXPECT_LT(cpu() - before, 0.03);
}

TEST_F(HousekeeperTest, EndsAtOnce) {
  const auto begin = Clock::now();
  for (int i = 0; i < 20; ++i) {
    const auto worker = this->worker({});
    make_local_session(worker);
  }
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds{1});
}

}  // namespace
}  // namespace burn::session
