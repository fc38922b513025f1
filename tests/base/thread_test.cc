#include "base/thread.h"

#include <atomic>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace burn {
namespace {

std::atomic<pthread_t> handled_by{};

bool is_blocked(int signal) {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  return sigismember(&blocked, signal) == 1;
}

TEST(Threads, HaveTheirName) {
  char name[16] = {};
  start_thread("burn-test", [&] { pthread_getname_np(pthread_self(), name, sizeof name); }).join();
  EXPECT_EQ(std::string(name), "burn-test");
}

TEST(Threads, LeaveSignalsToTheProgramButForWhatTheyCauseThemselves) {
  const bool alarm = is_blocked(SIGALRM);
  start_thread("burn-test", [] {
    for (const int signal : {SIGALRM, SIGINT, SIGTERM, SIGPROF, SIGUSR1}) EXPECT_TRUE(is_blocked(signal)) << signal;
    for (const int signal : {SIGSEGV, SIGABRT, SIGFPE}) EXPECT_FALSE(is_blocked(signal)) << signal;
    start_thread("burn-test", [] { EXPECT_TRUE(is_blocked(SIGALRM)); }).join();
  }).join();
  EXPECT_EQ(is_blocked(SIGALRM), alarm);
}

TEST(Threads, AreNotInterruptedByASignalOfTheProcess) {
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) { handled_by = pthread_self(); };
  ::sigaction(SIGUSR1, &action, &before);
  std::atomic<bool> is_over = false;
  auto thread = start_thread("burn-test", [&] {
    while (!is_over) std::this_thread::yield();
  });
  ::kill(::getpid(), SIGUSR1);
  EXPECT_EQ(handled_by.load(), pthread_self());
  is_over = true;
  thread.join();
  ::sigaction(SIGUSR1, &before, nullptr);
}

}  // namespace
}  // namespace burn
