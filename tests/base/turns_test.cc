#include "base/turns.h"

#include <thread>

#include <gtest/gtest.h>

namespace burn {
namespace {

TEST(Turns, AreBriefForWhoAsksAndForThreadsItStartsUntilItAsksForUsualOnes) {
  bool asked = false, child = false, after = false;
  std::thread([&] {
    ask_for(Turns::brief);
    asked = are_turns_brief();
    std::thread([&] { child = are_turns_brief(); }).join();
    ask_for(Turns::usual);
    after = are_turns_brief();
  }).join();
  EXPECT_FALSE(are_turns_brief()) << "other threads are not meant";
  if (!asked) GTEST_SKIP() << "the system has turns of one length for all threads";
  EXPECT_TRUE(child);
  EXPECT_FALSE(after);
}

}  // namespace
}  // namespace burn
