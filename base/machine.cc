#include "base/machine.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/free_memory.h"

namespace burn {
namespace {

constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

bool contains(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    if (list.substr(0, comma) == name) return true;
    list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
  }
  return false;
}

// The folders of this process's cgroup in one controller's hierarchy: `mount` and every folder down to `leaf`.
struct Hierarchy {
  bool unified = false;  // v2
  std::string mount;     // with the root in front
  std::string leaf;      // "/a/b" below the mount; empty: the mount itself
};

// Removes the prefix `folder`: "/a/b/c" below "/a" is "/b/c". Empty if the path is not below it.
std::string below(const std::string& path, const std::string& folder) {
  if (folder == "/") return path == "/" ? "" : path;
  if (path == folder || !path.starts_with(folder + "/")) return "";
  return path.substr(folder.size());
}

// The path of the process in the hierarchy of a controller: "4:memory:/a", or "0::/a" of v2.
std::optional<std::string> group_of(const std::string& root, std::string_view controller, bool unified) {
  std::ifstream file{root + "/proc/self/cgroup"};
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view controllers = std::string_view{line}.substr(first + 1, second - first - 1);
    if (unified ? controllers.empty() : contains(controllers, controller)) return line.substr(second + 1);
  }
  return std::nullopt;
}

// Parses lines of mountinfo: "36 35 0:26 /root/in/fs /mount/point options... - type source superoptions". In a
// container the mount's root may be its own group, while /proc/self/cgroup has the host's path.
std::vector<Hierarchy> hierarchies(const std::string& root, std::string_view controller) {
  std::vector<Hierarchy> found;
  std::ifstream file{root + "/proc/self/mountinfo"};
  for (std::string line; std::getline(file, line);) {
    const auto dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream head{line.substr(0, dash)}, tail{line.substr(dash + 3)};
    std::string id, parent, device, inside, point, type, source, options;
    if (!(head >> id >> parent >> device >> inside >> point) || !(tail >> type >> source >> options)) continue;
    const bool unified = type == "cgroup2";
    if (!unified && (type != "cgroup" || !contains(options, controller))) continue;
    const auto group = group_of(root, controller, unified);
    if (group) found.push_back({unified, root + point, below(*group, inside)});
  }
  return found;
}

// Calls look(folder) for the group and every group around it.
template <typename Look>
void each_level(const Hierarchy& hierarchy, const Look& look) {
  for (auto path = hierarchy.leaf;; path.resize(path.rfind('/'))) {
    look(hierarchy.mount + path);
    if (path.empty()) return;
  }
}

// std::nullopt if the file does not exist or contains "max".
std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file{path};
  std::uint64_t number = 0;
  return file >> number ? std::optional{number} : std::nullopt;
}

// The number after a name in a file of lines "name number" or "Name: number kB".
std::optional<std::uint64_t> field_in(const std::string& path, std::string_view name) {
  std::ifstream file{path};
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name)) continue;
    std::istringstream rest{line.substr(name.size())};
    std::uint64_t number = 0;
    if (rest >> number) return number;
  }
  return std::nullopt;
}

// What one group has left of its limit; std::nullopt if it has no limit.
std::optional<std::uint64_t> left_in(const std::string& folder, bool unified) {
  const auto limit = number_in(folder + (unified ? "/memory.max" : "/memory.limit_in_bytes"));
  const auto taken = number_in(folder + (unified ? "/memory.current" : "/memory.usage_in_bytes"));
  if (!limit || !taken) return std::nullopt;
  const auto files = field_in(folder + "/memory.stat", unified ? "inactive_file " : "total_inactive_file ").value_or(0);
  const auto in_use = *taken - std::min(*taken, files);
  return *limit - std::min(*limit, in_use);
}

std::uint64_t machine_memory() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
}

// Half of the address space limit: mappings are aligned, and stacks and heaps reserve more than they use.
std::uint64_t limit_of_process() {
  std::uint64_t least = kNone;
  for (const auto kind : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (getrlimit(kind, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
      least = std::min<std::uint64_t>(least, limit.rlim_cur / 2);
  }
  return least;
}

// CPU quota of one group, in processors; std::nullopt if it has no limit.
std::optional<double> quota_in(const std::string& folder, bool unified) {
  double quota = 0, period = 0;
  if (unified) {
    std::ifstream file{folder + "/cpu.max"};
    if (!(file >> quota >> period)) return std::nullopt;  // "max 100000"
  } else {
    std::ifstream quota_file{folder + "/cpu.cfs_quota_us"}, period_file{folder + "/cpu.cfs_period_us"};
    if (!(quota_file >> quota) || !(period_file >> period)) return std::nullopt;
  }
  if (quota <= 0 || period <= 0) return std::nullopt;  // -1: none
  return quota / period;
}

}  // namespace

std::uint64_t memory_limit(const std::string& root) {
  auto least = std::min(machine_memory(), limit_of_process());
  for (const auto& hierarchy : hierarchies(root, "memory")) {
    each_level(hierarchy, [&](const std::string& folder) {
      for (const char* file : {"/memory.max", "/memory.high", "/memory.limit_in_bytes"}) {
        if (const auto limit = number_in(folder + file)) least = std::min(least, *limit);
      }
    });
  }
  return least;
}

std::optional<std::uint64_t> free_memory(const std::string& root) {
  constexpr std::uint64_t kKiB = 1024;
  const auto available = field_in(root + "/proc/meminfo", "MemAvailable:");
  if (!available) return std::nullopt;
  auto least = *available * kKiB;
  for (const auto& hierarchy : hierarchies(root, "memory")) {
    each_level(hierarchy, [&](const std::string& folder) {
      if (const auto left = left_in(folder, hierarchy.unified)) least = std::min(least, *left);
    });
  }
  return least;
}

std::uint64_t usable_memory(std::uint64_t limit) {
  const auto wanted = std::clamp<std::uint64_t>(limit / 8, 256 * kMiB, 4096 * kMiB);
  return limit - std::min(wanted, limit / 4);
}

int cpu_quota(const std::string& root) {
  double least = 0;
  for (const auto& hierarchy : hierarchies(root, "cpu")) {
    each_level(hierarchy, [&](const std::string& folder) {
      const auto quota = quota_in(folder, hierarchy.unified);
      if (quota && (least == 0 || *quota < least)) least = *quota;
    });
  }
  if (least == 0) return 0;
  const auto whole = static_cast<std::int64_t>(std::min(least, 1e6));
  return static_cast<int>(static_cast<double>(whole) < least ? whole + 1 : whole);
}

int usable_cores(const std::string& root) {
  int cores = static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  cpu_set_t affinity;
  if (sched_getaffinity(0, sizeof(affinity), &affinity) == 0) cores = std::max(1, CPU_COUNT(&affinity));
  const int quota = cpu_quota(root);
  return quota > 0 ? std::min(cores, quota) : cores;
}

int cores_to_spare() {
  static const int count = usable_cores() / 4;
  return count;
}

}  // namespace burn
