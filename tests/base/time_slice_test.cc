#include "base/time_slice.h"

#include <thread>

#include <gtest/gtest.h>

namespace burn {
namespace {

TEST(TimeSlice, IsBriefForTheThreadThatAsksAndThoseItStartsUntilItAsksForTheUsual) {
  bool asked = false, child = false, after = false;
  std::thread([&] {
    request_time_slice(TimeSlice::brief);
    asked = has_brief_time_slice();
    std::thread([&] { child = has_brief_time_slice(); }).join();
    request_time_slice(TimeSlice::usual);
    after = has_brief_time_slice();
  }).join();
  EXPECT_FALSE(has_brief_time_slice()) << "other threads are not meant";
  if (!asked) GTEST_SKIP() << "the system has slices of one length for all threads";
  EXPECT_TRUE(child);
  EXPECT_FALSE(after);
}

}  // namespace
}  // namespace burn
