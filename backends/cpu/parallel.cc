#include "backends/cpu/parallel.h"

#include <algorithm>
#include <cstdlib>

#include <omp.h>

namespace burn::backends::cpu {
namespace {

constexpr int kMaxThreads = 1024;

int configured_threads() {
  const char* text = std::getenv("BURN_NUM_THREADS");  // NOLINT(concurrency-mt-unsafe): read once
  const int wanted = text ? std::atoi(text) : 0;
  return std::clamp(wanted > 0 ? wanted : omp_get_max_threads(), 1, kMaxThreads);
}

}  // namespace

int thread_count() {
  static const int count = configured_threads();
  return count;
}

void adopt_this_thread() {
  if (omp_get_max_threads() != thread_count()) omp_set_num_threads(thread_count());
}

namespace detail {

void parallel_for(std::int64_t n, std::int64_t grain, void (*body)(const void*, std::int64_t, std::int64_t),
                  const void* context) {
  const auto parts = std::min<std::int64_t>(thread_count(), n / std::max<std::int64_t>(grain, 1));
  if (parts <= 1 || omp_in_parallel()) return body(context, 0, n);
#pragma omp parallel for num_threads(static_cast<int>(parts)) schedule(static, 1)
  for (std::int64_t part = 0; part < parts; ++part) {
    // Written so that no product leaves 64 bits.
    const auto size = n / parts, rest = n % parts;
    const auto begin = part * size + std::min(part, rest);
    body(context, begin, begin + size + (part < rest ? 1 : 0));
  }
}

}  // namespace detail
}  // namespace burn::backends::cpu
