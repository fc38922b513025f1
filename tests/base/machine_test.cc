#include "base/machine.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sched.h>

#include "base/free_memory.h"
#include "tests/support/temp_folder.h"

namespace burn {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// Imitates the files of a system in a folder of the test.
class MachineTest : public testing::Test {
 protected:
  void file(const std::string& path, const std::string& text) const {
    const std::filesystem::path at = root() + path;
    std::filesystem::create_directories(at.parent_path());
    std::ofstream{at} << text << '\n';
  }
  std::string root() const { return folder_.path().string(); }
  void unified(const std::string& group, const std::string& inside = "/") const {
    file("/proc/self/cgroup", "0::" + group);
    file("/proc/self/mountinfo", "30 23 0:26 " + inside + " /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw");
  }
  void first_version(const std::string& group, const std::string& inside = "/") const {
    file("/proc/self/cgroup", "9:name=systemd:/\n4:memory:" + group + "\n1:cpu,cpuacct:" + group);
    file("/proc/self/mountinfo", "31 23 0:27 " + inside + " /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
                                     "32 23 0:28 " + inside + " /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct");
  }

  test::TempFolder folder_;
};

TEST_F(MachineTest, WithoutGroupsTheMachineIsTheLimit) {
  EXPECT_GT(memory_limit(root()), 64 * kMiB);
  EXPECT_EQ(cpu_quota(root()), 0);
  cpu_set_t cores;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(cores), &cores), 0);
  EXPECT_EQ(usable_cores(root()), CPU_COUNT(&cores));
}

TEST_F(MachineTest, TheSmallestLimitOnTheWayUpCounts) {
  unified("/a/b/c");
  file("/sys/fs/cgroup/a/memory.max", std::to_string(20 * kMiB));
  file("/sys/fs/cgroup/a/b/memory.max", std::to_string(12 * kMiB));
  file("/sys/fs/cgroup/a/b/c/memory.max", "max");
  EXPECT_EQ(memory_limit(root()), 12 * kMiB);
  file("/sys/fs/cgroup/a/b/c/memory.high", std::to_string(11 * kMiB));
  EXPECT_EQ(memory_limit(root()), 11 * kMiB);
  file("/sys/fs/cgroup/a/memory.max", std::to_string(10 * kMiB));
  EXPECT_EQ(memory_limit(root()), 10 * kMiB);
}

TEST_F(MachineTest, FreeIsTheLeastThatAnyGroupHasLeft) {
  EXPECT_EQ(free_memory(root()), std::nullopt) << "the system does not say";
  file("/proc/meminfo", "MemTotal: 100 kB\nMemAvailable: 40960 kB");
  EXPECT_EQ(free_memory(root()), 40 * kMiB);
  unified("/a/b");
  file("/sys/fs/cgroup/a/memory.max", std::to_string(20 * kMiB));
  file("/sys/fs/cgroup/a/memory.current", std::to_string(15 * kMiB));
  EXPECT_EQ(free_memory(root()), 5 * kMiB);
  file("/sys/fs/cgroup/a/memory.stat", "anon 7\ninactive_file " + std::to_string(3 * kMiB));
  EXPECT_EQ(free_memory(root()), 8 * kMiB) << "pages of files can be dropped";
  file("/sys/fs/cgroup/a/b/memory.max", std::to_string(6 * kMiB));
  file("/sys/fs/cgroup/a/b/memory.current", std::to_string(7 * kMiB));
  EXPECT_EQ(free_memory(root()), 0u) << "more is taken than there may be";
}

TEST_F(MachineTest, FreeInTheFirstVersionOfGroups) {
  file("/proc/meminfo", "MemAvailable: 40960 kB");
  first_version("/a");
  file("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", std::to_string(20 * kMiB));
  file("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", std::to_string(19 * kMiB));
  file("/sys/fs/cgroup/memory/a/memory.stat", "inactive_file 1\ntotal_inactive_file " + std::to_string(2 * kMiB));
  EXPECT_EQ(free_memory(root()), 3 * kMiB);
}

TEST(FreeMemory, OfThisMachineIsSomethingAndNotAllOfIt) {
  const auto free = free_memory();
  ASSERT_TRUE(free.has_value());
  EXPECT_GT(*free, kMiB);
  EXPECT_LT(*free, std::uint64_t{1} << 50);
}

TEST_F(MachineTest, AContainerSeesItsGroupAsTheRoot) {
  unified("/");
  file("/sys/fs/cgroup/memory.max", std::to_string(9 * kMiB));
  EXPECT_EQ(memory_limit(root()), 9 * kMiB);
  unified("/docker/abc", "/docker/abc");  // named as the host does, mounted as the root
  EXPECT_EQ(memory_limit(root()), 9 * kMiB);
  unified("/docker/abc/inner", "/docker/abc");
  file("/sys/fs/cgroup/inner/memory.max", std::to_string(8 * kMiB));
  EXPECT_EQ(memory_limit(root()), 8 * kMiB);
}

TEST_F(MachineTest, TheFirstVersionOfGroupsCountsToo) {
  first_version("/box/job");
  file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");  // none
  file("/sys/fs/cgroup/memory/box/memory.limit_in_bytes", std::to_string(7 * kMiB));
  file("/sys/fs/cgroup/memory/box/job/memory.limit_in_bytes", std::to_string(30 * kMiB));
  EXPECT_EQ(memory_limit(root()), 7 * kMiB);
  file("/sys/fs/cgroup/cpu/box/job/cpu.cfs_quota_us", "150000");
  file("/sys/fs/cgroup/cpu/box/job/cpu.cfs_period_us", "100000");
  EXPECT_EQ(cpu_quota(root()), 2);
  file("/sys/fs/cgroup/cpu/box/job/cpu.cfs_quota_us", "-1");
  EXPECT_EQ(cpu_quota(root()), 0);
}

TEST_F(MachineTest, TimeOfProcessorsIsRoundedUp) {
  unified("/a/b");
  file("/sys/fs/cgroup/a/cpu.max", "max 100000");
  file("/sys/fs/cgroup/a/b/cpu.max", "50000 100000");
  EXPECT_EQ(cpu_quota(root()), 1);
  EXPECT_EQ(usable_cores(root()), 1);
  file("/sys/fs/cgroup/a/b/cpu.max", "400000 100000");
  EXPECT_EQ(cpu_quota(root()), 4);
  file("/sys/fs/cgroup/a/cpu.max", "250000 100000");
  EXPECT_EQ(cpu_quota(root()), 3);
}

TEST_F(MachineTest, RubbishSetsNoLimit) {
  unified("/a");
  file("/sys/fs/cgroup/a/memory.max", "lots");
  file("/sys/fs/cgroup/a/cpu.max", "");
  EXPECT_GT(memory_limit(root()), 64 * kMiB);
  EXPECT_EQ(cpu_quota(root()), 0);
  file("/proc/self/mountinfo", "not - a mount");
  file("/proc/self/cgroup", "nothing");
  EXPECT_GT(memory_limit(root()), 64 * kMiB);
}

TEST(UsableMemory, LeavesRoomForWhatIsNoTensor) {
  EXPECT_EQ(usable_memory(1024 * kMiB), 768 * kMiB);
  EXPECT_EQ(usable_memory(512 * kMiB), 384 * kMiB);
  EXPECT_EQ(usable_memory(std::uint64_t{64} << 30), std::uint64_t{60} << 30);
  EXPECT_LT(usable_memory(), memory_limit());
}

}  // namespace
}  // namespace burn
