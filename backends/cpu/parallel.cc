#include "backends/cpu/parallel.h"

#include <algorithm>
#include <cstdlib>

#include <omp.h>

#include "backends/cpu/workers.h"
#include "base/machine.h"
#include "base/settings.h"

namespace burn::backends::cpu {
namespace {

constexpr int kMaxThreads = 1024;

// Of OpenMP only what the user said: it does not know of a control group's quota.
int default_threads() { return std::getenv("OMP_NUM_THREADS") ? omp_get_max_threads() : usable_cores(); }

int configured_threads() {
  const auto wanted = numeric_setting(Setting::num_threads).value_or(0);
  const auto threads = wanted > 0 ? wanted : static_cast<std::uint64_t>(default_threads());
  return static_cast<int>(std::clamp<std::uint64_t>(threads, 1, kMaxThreads));
}

}  // namespace

int thread_count() {
  static const int count = configured_threads();
  return count;
}

LibraryThreads::LibraryThreads(int threads) : before_(omp_get_max_threads()) {
  thread_count();  // asks OpenMP the first time, before we tell it otherwise
  omp_set_num_threads(threads);
}

LibraryThreads::~LibraryThreads() { omp_set_num_threads(before_); }

namespace detail {

void parallel_for(std::int64_t n, std::int64_t grain, PartBody body, const void* context) {
  // More parts than threads: who is early takes one more.
  constexpr std::int64_t kPartsPerThread = 4;
  const auto threads = thread_count();
  if (Workers::is_working()) return body(context, 0, n);
  const auto parts = std::min(threads * kPartsPerThread, n / std::max<std::int64_t>(grain, 1));
  const Job job{.n = n, .parts = parts, .grain = grain, .body = body, .context = context};
  if (threads == 1 || parts <= 1) return job.run(0, n);
  Workers::instance().run(job);
}

}  // namespace detail
}  // namespace burn::backends::cpu
