#include "data/prefetcher.h"

#include <atomic>
#include <chrono>
#include <stdexcept>

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

namespace burn::data {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<void> boxed(std::size_t value) { return std::make_shared<std::size_t>(value); }
std::size_t unboxed(const std::shared_ptr<void>& box) { return *std::static_pointer_cast<std::size_t>(box); }

// Later items are ready sooner, so that the prefetcher has to restore the order.
std::shared_ptr<void> slow_start(std::size_t index) {
  if (index % 4 == 0) std::this_thread::sleep_for(2ms);
  return boxed(index);
}

TEST(Prefetcher, GivesEverythingInOrder) {
  for (const std::size_t workers : {0, 1, 3, 8}) {
    for (const std::size_t ahead : {0, 1, 2, 100}) {
      Prefetcher source(40, workers, ahead, slow_start, {});
      for (std::size_t i = 0; i < 40; ++i)
        ASSERT_EQ(unboxed(source.next()), i) << workers << " workers, " << ahead << " ahead";
      EXPECT_EQ(source.next(), nullptr);
      EXPECT_EQ(source.next(), nullptr);
    }
  }
}

TEST(Prefetcher, HasAnEmptyPass) {
  Prefetcher source(0, 2, 4, slow_start, {});
  EXPECT_EQ(source.next(), nullptr);
}

TEST(Prefetcher, MakesNoMoreAheadThanAllowed) {
  std::atomic<std::size_t> started{0};
  Prefetcher source(100, 2, 3,
                    [&](std::size_t index) {
                      ++started;
                      return boxed(index);
                    },
                    {});
  for (std::size_t taken = 0; taken < 20; ++taken) {
    std::this_thread::sleep_for(1ms);
    EXPECT_LE(started, taken + 3);
    (void)source.next();
  }
}

TEST(Prefetcher, WorksAheadOfTheConsumer) {
  std::atomic<std::size_t> done{0};
  Prefetcher source(10, 2, 4,
                    [&](std::size_t index) {
                      ++done;
                      return boxed(index);
                    },
                    {});
  for (int i = 0; i < 2000 && done < 4; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(done, 4u);
}

TEST(Prefetcher, ThrowsInPlaceAndThenEnds) {
  for (const std::size_t workers : {0, 1, 4}) {
    Prefetcher source(20, workers, 8,
                      [](std::size_t index) {
                        if (index < 5) std::this_thread::sleep_for(1ms);  // the failures come before the first items
                        if (index == 5) throw std::runtime_error("five");
                        if (index == 7) throw std::runtime_error("seven");
                        return boxed(index);
                      },
                      {});
    for (std::size_t i = 0; i < 5; ++i) ASSERT_EQ(unboxed(source.next()), i);
    try {
      (void)source.next();
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "five");
    }
    EXPECT_EQ(source.next(), nullptr);
  }
}

TEST(Prefetcher, StopsEarly) {
  std::atomic<std::size_t> started{0};
  {
    Prefetcher source(1000000, 4, 8,
                      [&](std::size_t index) {
                        ++started;
                        return boxed(index);
                      },
                      {});
    (void)source.next();
  }
  EXPECT_LE(started, 10u);
}

// The scope that the thread is in, or null.
thread_local const int* scope_of_thread = nullptr;

struct Journal {
  std::atomic<int> begun{0}, ended{0}, detached{0}, adopted{0};
  std::thread::id consumer = std::this_thread::get_id();

  // Checks that it ends on the thread on which it began.
  struct Scope {
    explicit Scope(Journal& journal) : journal(journal) {
      scope_of_thread = &number;
      ++journal.begun;
    }
    ~Scope() {
      EXPECT_EQ(scope_of_thread, &number);
      scope_of_thread = nullptr;
      ++journal.ended;
    }
    Journal& journal;
    const int number = 0;
  };

  BatchHooks hooks() {
    return {.scope = [this]() -> std::shared_ptr<void> { return std::make_shared<Scope>(*this); },
            .detach = [this]() -> std::shared_ptr<void> {
              EXPECT_EQ(scope_of_thread, nullptr);
              ++detached;
              return std::make_shared<std::thread::id>(std::this_thread::get_id());
            },
            .adopt =
                [this](std::shared_ptr<void> token) {
                  EXPECT_EQ(std::this_thread::get_id(), consumer);
                  EXPECT_NE(*std::static_pointer_cast<std::thread::id>(token), consumer);
                  ++adopted;
                }};
  }
};

TEST(Prefetcher, HooksSurroundEveryBatchAndTheTokenTravels) {
  Journal journal;
  const auto make = [&](std::size_t index) {
    EXPECT_NE(std::this_thread::get_id(), journal.consumer);
    EXPECT_NE(scope_of_thread, nullptr);
    return slow_start(index);
  };
  Prefetcher source(10, 2, 4, make, journal.hooks());
  while (source.next() != nullptr) {
  }
  EXPECT_EQ(journal.begun, 10);
  EXPECT_EQ(journal.ended, 10);
  EXPECT_EQ(journal.detached, 10);
  EXPECT_EQ(journal.adopted, 10);
}

TEST(Prefetcher, HooksEndAlsoWhenTheBatchFails) {
  for (const std::size_t workers : {0, 1}) {
    Journal journal;
    {
      Prefetcher source(
          3, workers, 4, [](std::size_t) -> std::shared_ptr<void> { throw std::runtime_error("no"); }, journal.hooks());
      EXPECT_THROW((void)source.next(), std::runtime_error);
    }
    EXPECT_GT(journal.begun, 0);
    EXPECT_EQ(journal.begun, journal.ended);
    EXPECT_EQ(journal.detached, workers == 0 ? 0 : journal.begun.load());
    EXPECT_EQ(journal.adopted, 0);
  }
}

TEST(Prefetcher, OfTheParentOfAForkIsAnErrorInTheChildAndDoesNotHoldItUp) {
  auto source = Prefetcher::Owner(new Prefetcher(100, 2, 4, slow_start, {}));
  EXPECT_EQ(unboxed(source->next()), 0u);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    int code = 1;
    try {
      (void)source->next();
    } catch (const Error& error) {
      code = error.code() == StatusCode::failed_precondition ? 0 : 2;
    }
    source.reset();
    ::_exit(code);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  for (std::size_t i = 1; i < 100; ++i) EXPECT_EQ(unboxed(source->next()), i);
}

TEST(Prefetcher, WithoutWorkersTheScopeIsOnTheConsumerAndNothingTravels) {
  Journal journal;
  const auto make = [&](std::size_t index) {
    EXPECT_EQ(std::this_thread::get_id(), journal.consumer);
    EXPECT_NE(scope_of_thread, nullptr);
    return slow_start(index);
  };
  Prefetcher source(3, 0, 4, make, journal.hooks());
  while (source.next() != nullptr) EXPECT_EQ(scope_of_thread, nullptr);
  EXPECT_EQ(journal.begun, 3);
  EXPECT_EQ(journal.ended, 3);
  EXPECT_EQ(journal.detached + journal.adopted, 0);
}

TEST(Prefetcher, ReportsAHookThatThrowsInPlace) {
  BatchHooks hooks;
  hooks.detach = []() -> std::shared_ptr<void> { throw std::runtime_error("detach"); };
  Prefetcher source(3, 1, 4, slow_start, hooks);
  EXPECT_THROW((void)source.next(), std::runtime_error);
  BatchHooks without;
  without.scope = []() -> std::shared_ptr<void> { throw std::runtime_error("scope"); };
  for (const std::size_t workers : {0, 1}) {
    Prefetcher refused(3, workers, 4, slow_start, without);
    EXPECT_THROW((void)refused.next(), std::runtime_error);
  }
}

}  // namespace
}  // namespace burn::data
