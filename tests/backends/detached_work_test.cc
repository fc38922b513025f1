#include "backends/detached_work.h"

#include <atomic>
#include <future>
#include <new>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "backends/interrupt.h"

namespace burn::backends {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

std::shared_ptr<AbandonedWork> session() { return std::make_shared<AbandonedWork>(); }

// A run that is to end, as seen by the thread that executes it.
struct EndingRun {
  EndingRun() { interrupt.request(); }
  Interrupt interrupt;
  InterruptScope scope{&interrupt};
};

// Work that ignores interrupts and blocks until `go` is set.
struct UninterruptibleWork {
  std::promise<void> go;
  std::shared_future<void> gone = go.get_future().share();
  std::shared_ptr<int> memory = std::make_shared<int>(0);

  std::function<Status()> work() {
    return [gone = gone, memory = memory] {
      gone.wait();
      return Status{};
    };
  }
};

TEST(DetachedWork, GivesWhatTheWorkGivesAndThrowsWhatItThrows) {
  const Interrupt interrupt;
  const InterruptScope scope(&interrupt);
  const auto here = std::this_thread::get_id();
  EXPECT_TRUE(
      run_detached(session(), [&] { return std::this_thread::get_id() == here ? cancelled("here") : Status{}; }).ok());
  EXPECT_EQ(run_detached(session(), [] { return not_found("it"); }).code(), StatusCode::not_found);
  EXPECT_THROW((void)run_detached(session(), []() -> Status { throw std::bad_alloc(); }), std::bad_alloc);
  EXPECT_EQ(AbandonedWork::count_in_process(), 0u);
}

TEST(DetachedWork, IsHereWhereNothingCanEnd) {
  const auto here = std::this_thread::get_id();
  EXPECT_TRUE(
      run_detached(session(), [&] { return std::this_thread::get_id() == here ? Status{} : cancelled(""); }).ok());
}

TEST(DetachedWork, EndsWithWorkThatAsks) {
  EndingRun run;
  const auto begin = Clock::now();
  const auto has_begun = std::make_shared<std::atomic<bool>>(false);
  EXPECT_THROW((void)run_detached(session(),
                                  [=]() -> Status {
                                    *has_begun = true;
                                    while (Clock::now() - begin < std::chrono::seconds{20}) throw_if_interrupted();
                                    return {};
                                  }),
               Interrupted);
  EXPECT_TRUE(*has_begun);
  EXPECT_EQ(AbandonedWork::count_in_process(), 0u);
}

TEST(DetachedWork, LeavesBehindWhatDoesNotAskWithItsMemory) {
  EndingRun run;
  const auto mine = session();
  UninterruptibleWork stubborn;
  const std::weak_ptr<int> memory = stubborn.memory;
  const auto total = AbandonedWork::total_in_process();
  const auto begin = Clock::now();
  EXPECT_THROW((void)run_detached(mine, stubborn.work()), Interrupted);
  EXPECT_LT(Clock::now() - begin, AbandonedWork::kGrace + milliseconds{1000});
  EXPECT_EQ(mine->count(), 1u);
  EXPECT_EQ(AbandonedWork::count_in_process(), 1u);
  EXPECT_EQ(AbandonedWork::total_in_process(), total + 1);
  stubborn.memory = nullptr;
  EXPECT_FALSE(memory.expired());

  // The same session begins no other; another one does.
  EXPECT_EQ(run_detached(mine, [] { return Status{}; }).code(), StatusCode::resource_exhausted);
  {
    const InterruptScope outside(nullptr);
    const Interrupt going;
    const InterruptScope scope(&going);
    EXPECT_TRUE(run_detached(session(), [] { return Status{}; }).ok());
  }

  stubborn.go.set_value();
  AbandonedWork::wait_for_all();
  EXPECT_TRUE(memory.expired());
  EXPECT_EQ(mine->count(), 0u);
  EXPECT_THROW((void)run_detached(mine, []() -> Status { throw Interrupted{}; }), Interrupted) << "it may again";
}

TEST(DetachedWork, BeginsNoMoreWhereTooManyAreLeft) {
  EndingRun run;
  std::vector<UninterruptibleWork> all(AbandonedWork::kMaxInProcess);
  for (auto& stubborn : all) EXPECT_THROW((void)run_detached(session(), stubborn.work()), Interrupted);
  const auto refused = run_detached(session(), [] { return Status{}; });
  EXPECT_EQ(refused.code(), StatusCode::resource_exhausted);
  EXPECT_NE(refused.message().find("4 runs that could not be stopped still compute here"), std::string::npos)
      << refused.message();
  for (auto& stubborn : all) stubborn.go.set_value();
  AbandonedWork::wait_for_all();
}

TEST(DetachedWork, KeepsWhatPaysForIt) {
  EndingRun run;
  UninterruptibleWork stubborn;
  auto share = std::make_shared<int>(0);
  const std::weak_ptr<int> charge = share;
  {
    const KeepAliveScope kept(std::exchange(share, nullptr));
    EXPECT_THROW((void)run_detached(session(), stubborn.work()), Interrupted);
  }
  EXPECT_FALSE(charge.expired());
  stubborn.go.set_value();
  AbandonedWork::wait_for_all();
  EXPECT_TRUE(charge.expired());
}

// Of a plane each, say.
TEST(InterruptMeter, GoesOnWhereTheOneBeforeItLeftOff) {
  EndingRun run;
  const auto many = [] {
    for (int i = 0; i < 2'000'000; ++i) {
      InterruptMeter meter;
      meter.add(1);
    }
  };
  EXPECT_THROW(many(), Interrupted);
}

}  // namespace
}  // namespace burn::backends
