#include "daemon/operator/thread_times.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace burn::daemon {
namespace {

// Adds the thread described by a line "7 (its name) S ...". Of the fields of proc(5), 14 and 15 are its time in ticks.
void add_thread(std::vector<ThreadsOfName>& all, const std::string& line, double ticks_per_second) {
  const auto begin = line.find('('), end = line.rfind(')');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return;
  std::istringstream fields{line.substr(end + 1)};
  std::string field;
  for (int number = 3; number < 14 && fields >> field; ++number) {
  }
  double user = 0, system = 0;
  if (!(fields >> user >> system)) return;
  auto name = line.substr(begin + 1, end - begin - 1);
  const auto known = std::ranges::find(all, name, &ThreadsOfName::name);
  auto& entry = known == all.end() ? all.emplace_back(ThreadsOfName{.name = std::move(name)}) : *known;
  ++entry.count;
  entry.cpu_seconds += (user + system) / ticks_per_second;
}

}  // namespace

std::vector<ThreadsOfName> threads_by_name(const std::string& folder) {
  std::vector<ThreadsOfName> all;
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  std::error_code why;
  for (std::filesystem::directory_iterator it{folder, why}, end; !why && it != end; it.increment(why)) {
    std::ifstream file{it->path() / "stat"};
    add_thread(all, std::string{std::istreambuf_iterator<char>{file}, {}}, ticks);
  }
  std::ranges::sort(all, [](const ThreadsOfName& a, const ThreadsOfName& b) {
    return a.cpu_seconds != b.cpu_seconds ? a.cpu_seconds > b.cpu_seconds : a.name < b.name;
  });
  return all;
}

}  // namespace burn::daemon
