// Threads that nothing waits for, and that compute when the program ends: it ends as it says it does.
#include <cstdlib>

#include <gtest/gtest.h>

#include "tests/system/worker.h"

namespace burn {
namespace {

class DetachedThreads : public ::testing::TestWithParam<const char*> {
 protected:
  static test::Worker& worker() {
    static auto& one = *new test::Worker;
    return one;
  }
  static void TearDownTestSuite() { worker().kill(); }
};

TEST_P(DetachedThreads, DoNotAbortTheProcess) {
  for (const char* end : {"return", "exit"}) {
    for (const char* catches : {"throws", "catches"}) {
      for (int time = 0; time < 5; ++time) {
        server::Process program(
            {"/usr/bin/timeout", "--signal=KILL", "60", BURN_DETACHED_THREAD, end, catches, worker().url(GetParam())});
        EXPECT_EQ(program.read_line(), "computing") << end;
        EXPECT_EQ(program.wait(), 0) << end << ": " << program.read_errors();
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OnEveryTransport, DetachedThreads, ::testing::ValuesIn(test::kSchemes), test::kSchemeName);

}  // namespace
}  // namespace burn
