// Threads by their names, of a folder like /proc/self/task.
#include "daemon/operator/thread_times.h"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/temp_folder.h"

namespace burn::daemon {
namespace {

// A thread that has taken so many seconds in user and system mode.
void add(const test::TempFolder& folder, const std::string& id, const std::string& name, long user, long system) {
  std::filesystem::create_directories(folder.path() / id);
  const auto ticks = ::sysconf(_SC_CLK_TCK);
  folder.write(id + "/stat", id + " (" + name + ") S 1 2 3 4 5 6 7 8 9 10 " + std::to_string(user * ticks) + " " +
                                 std::to_string(system * ticks) + " 0 0 20 0 1 0\n");
}

TEST(ThreadTimes, ThreadsOfOneNameAreOneEntry) {
  const test::TempFolder folder;
  add(folder, "10", "burn-loop", 1, 2);
  add(folder, "11", "compute) S 1 2", 7, 0);  // a name may look like the fields after it
  add(folder, "12", "burn-loop", 3, 0);
  folder.write("13", "no folder, as of a thread that has ended");
  const auto threads = threads_by_name(folder.path().string());
  ASSERT_EQ(threads.size(), 2u);
  EXPECT_EQ(threads[0].name, "compute) S 1 2") << "it took the most time";
  EXPECT_EQ(threads[0].cpu_seconds, 7);
  EXPECT_EQ(threads[1].name, "burn-loop");
  EXPECT_EQ(threads[1].count, 2u);
  EXPECT_EQ(threads[1].cpu_seconds, 6);
}

TEST(ThreadTimes, WithoutTheFolderThereAreNone) { EXPECT_TRUE(threads_by_name("/nowhere").empty()); }

}  // namespace
}  // namespace burn::daemon
