// Devices, tensors, modules and optimizers at namespace scope: there before main() in every order, and safe to the very
// end.
#include <cstdlib>

#include <gtest/gtest.h>

#include "tests/system/worker.h"

namespace burn {
namespace {

class StaticLife : public ::testing::TestWithParam<const char*> {
 protected:
  static test::Worker& worker() {
    static auto& one = *new test::Worker;
    return one;
  }
  static void TearDownTestSuite() { worker().kill(); }
};

TEST_P(StaticLife, FromBeforeMainToAfterIt) {
  ::setenv("BURN_TEST_URL", worker().url(GetParam()).c_str(), 1);
  for (const char* end : {"return", "exit", "quick_exit", "busy", "reading"}) {
    server::Process program({"/usr/bin/timeout", "--signal=KILL", "60", BURN_STATIC_LIFE, end});
    EXPECT_EQ(program.read_line(), "sum 14") << end;
    EXPECT_EQ(program.read_line(), std::string{end} == "quick_exit" ? "" : "last words 6") << end;
    EXPECT_EQ(program.wait(), 0) << end;
  }
}

INSTANTIATE_TEST_SUITE_P(OnEveryTransport, StaticLife, ::testing::ValuesIn(test::kSchemes), test::kSchemeName);

}  // namespace
}  // namespace burn
