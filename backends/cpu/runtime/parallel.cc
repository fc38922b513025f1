#include "backends/cpu/runtime/parallel.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include <omp.h>

#include "backends/cpu/runtime/workers.h"
#include "base/machine.h"
#include "base/settings.h"

namespace burn::backends::cpu {
namespace {

constexpr int kMaxThreads = 1024;

// OpenMP's number is used only if the user has set it: OpenMP does not know of a control group's quota.
int default_threads() { return std::getenv("OMP_NUM_THREADS") ? omp_get_max_threads() : usable_cores(); }

int configured_threads() {
  const auto wanted = numeric_setting(Setting::num_threads).value_or(0);
  const auto threads = wanted > 0 ? wanted : static_cast<std::uint64_t>(default_threads());
  return static_cast<int>(std::clamp<std::uint64_t>(threads, 1, kMaxThreads));
}

void run(const Job& job) {
  if (thread_count() == 1 || job.parts <= 1) return job.run(0, job.n);
  Workers::instance().run(job);
}

}  // namespace

int thread_count() {
  static const int count = configured_threads();
  return count;
}

LibraryThreads::LibraryThreads(int threads) : before_(omp_get_max_threads()) {
  thread_count();  // reads OpenMP's setting on first use, before it is changed below
  omp_set_num_threads(threads);
}

LibraryThreads::~LibraryThreads() { omp_set_num_threads(before_); }

namespace detail {

void parallel_for(std::int64_t n, std::int64_t grain, PartBody body, const void* context) {
  // More parts than threads, so that a fast thread takes more. The more threads, the longer the wait for the last one,
  // so parts of long jobs are then smaller.
  constexpr std::int64_t kPartsOfThread = 4, kGrainsOfSmallPart = 2;
  const std::int64_t threads = thread_count();
  if (Workers::is_working()) return body(context, 0, n);
  const auto grains = n / std::max<std::int64_t>(grain, 1), least = threads * kPartsOfThread;
  const auto most = least * std::max<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(threads)) - 1, 1);
  const auto parts = std::min(grains, std::clamp(grains / kGrainsOfSmallPart, least, most));
  run({.n = n, .parts = parts, .grain = grain, .body = body, .context = context});
}

void parallel_for_each(std::int64_t n, PartBody body, const void* context) {
  if (Workers::is_working()) return body(context, 0, n);
  run({.n = n, .parts = n, .grain = 1, .body = body, .context = context});
}

}  // namespace detail
}  // namespace burn::backends::cpu
