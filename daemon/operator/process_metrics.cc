#include "daemon/operator/process_metrics.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

#include "net/listen/process_limits.h"

namespace burn::daemon {
namespace {

// Fields of /proc/self/stat (proc(5)), parsed from the third one on, because the second is a name that may contain
// spaces.
struct ProcessStat {
  double cpu_ticks = 0, threads = 0, start_ticks = 0, virtual_bytes = 0, resident_pages = 0;
};

std::optional<ProcessStat> read_stat() {
  std::ifstream file{"/proc/self/stat"};
  const std::string line{std::istreambuf_iterator<char>{file}, {}};
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields{line.substr(name_end + 1)};
  std::string field;
  ProcessStat stat;
  for (int number = 3; number <= 24 && fields >> field; ++number) {
    const auto value = [&] { return std::strtod(field.c_str(), nullptr); };
    if (number == 14 || number == 15) stat.cpu_ticks += value();
    if (number == 20) stat.threads = value();
    if (number == 22) stat.start_ticks = value();
    if (number == 23) stat.virtual_bytes = value();
    if (number == 24) return stat.resident_pages = value(), stat;
  }
  return std::nullopt;
}

// When the system started, in seconds since 1970.
std::optional<double> boot_time() {
  std::ifstream file{"/proc/stat"};
  for (std::string word; file >> word;) {
    double seconds = 0;
    if (word == "btime" && file >> seconds) return seconds;
  }
  return std::nullopt;
}

}  // namespace

void collect_process(Samples& samples) {
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  if (const auto stat = read_stat()) {
    samples.add(Metric::cpu_seconds, stat->cpu_ticks / ticks);
    samples.add(Metric::resident_bytes, stat->resident_pages * static_cast<double>(::sysconf(_SC_PAGESIZE)));
    samples.add(Metric::virtual_bytes, stat->virtual_bytes);
    samples.add(Metric::threads, stat->threads);
    if (const auto boot = boot_time()) samples.add(Metric::start_time, *boot + stat->start_ticks / ticks);
  }
  if (const auto count = net::open_descriptors()) samples.add(Metric::open_fds, static_cast<double>(*count));
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) samples.add(Metric::max_fds, static_cast<double>(limit.rlim_cur));
}

}  // namespace burn::daemon
