#include "base/fork.h"

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace burn {
namespace {

// Runs `body` in the child of a fork() and returns its result, or minus the signal that ended it, as on a timeout.
int in_child(const std::function<int()>& body) {
  const pid_t id = ::fork();
  if (id == 0) {
    ::alarm(20);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(id, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(Fork, IsCountedInTheChildAndNotInTheParent) {
  install_fork_handlers();
  const auto before = fork_count();
  EXPECT_EQ(in_child([&] { return static_cast<int>(fork_count() - before); }), 1);
  EXPECT_EQ(in_child([&] { return in_child([&] { return static_cast<int>(fork_count() - before); }); }), 2);
  EXPECT_EQ(fork_count(), before);
}

TEST(Fork, GivesTheChildItsOwnOfWhatThereIsOnePerProcess) {
  static auto& numbers = *new OnePerProcess<int>;
  int made = 0;
  const auto get = [&]() -> int& { return numbers.get([&] { return std::make_unique<int>(++made); }); };
  get() = 7;
  EXPECT_EQ(in_child([&] { return get() * 10 + made; }), 2 * 10 + 2);
  EXPECT_EQ(get(), 7);
  EXPECT_EQ(made, 1);
}

TEST(Fork, LeavesTheChildLocksThatItCanTakeAndWholeData) {
  static auto& mutex = *new std::mutex;
  static int a = 0, b = 0;  // equal, for a thread that holds the mutex
  lock_during_fork(mutex);
  std::atomic<bool> is_over = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!is_over) {
        const std::lock_guard lock(mutex);
        ++a;
        std::this_thread::yield();
        ++b;
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(in_child([] {
                const std::lock_guard lock(mutex);
                return a == b ? 0 : 1;
              }),
              0);
  }
  is_over = true;
  for (auto& thread : threads) thread.join();
}

TEST(Fork, MayHappenOnTwoThreadsAtATime) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([] {
      for (int k = 0; k < 10; ++k) EXPECT_EQ(in_child([] { return 0; }), 0);
    });
  }
  for (auto& thread : threads) thread.join();
}

std::atomic<int> hooks_run = 0;

TEST(Fork, CallsHooksInTheChild) {
  after_fork([] { ++hooks_run; });
  EXPECT_EQ(in_child([] { return hooks_run.load(); }), 1);
  EXPECT_EQ(hooks_run, 0);
}

}  // namespace
}  // namespace burn
