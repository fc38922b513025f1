#include "net/listen/process_limits.h"

#include <cstdio>
#include <filesystem>
#include <latch>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include "net/transport/socket.h"

namespace burn::net {

bool has_memory_for_connection(std::uint64_t reserve) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return true;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::fopen("/proc/self/statm", "re"), &std::fclose};
  unsigned long pages = 0;
  if (!file || std::fscanf(file.get(), "%lu", &pages) != 1) return true;
  const auto used = std::uint64_t{pages} * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return used + reserve < limit.rlim_cur;
}

std::optional<std::size_t> open_descriptors() {
  std::error_code why;
  std::size_t count = 0;
  for (std::filesystem::directory_iterator it{"/proc/self/fd", why}, end; !why && it != end; it.increment(why)) ++count;
  if (why || count == 0) return std::nullopt;
  return count - 1;  // without the descriptor of the folder itself
}

std::size_t free_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  const auto open = open_descriptors();
  const auto used = open ? *open + 1 : std::size_t{0};  // the folder is open during the count
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

Status check_threads(int count) {
  std::vector<std::thread> started;
  started.reserve(static_cast<std::size_t>(count));
  std::latch all_asked{1};
  Status status;
  try {
    while (static_cast<int>(started.size()) < count) started.emplace_back([&] { all_asked.wait(); });
  } catch (const std::system_error& error) {
    status = resource_exhausted(fmt::format(
        "{} threads are needed to begin with, and after {} there was none to be had: {}; the limit on processes and "
        "threads (ulimit -u, pids.max, TasksMax) is too low",
        count, started.size(), errno_text(error.code().value())));
  }
  all_asked.count_down();
  for (auto& thread : started) thread.join();
  return status;
}

void raise_process_limits() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &limit);  // if refused, the current limit bounds the connections
  }
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    ::mallopt(M_ARENA_MAX, 2);  // NOLINT(concurrency-mt-unsafe): before other threads start
  }
}

}  // namespace burn::net
