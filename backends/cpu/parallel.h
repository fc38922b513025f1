// Work spread over the cores, on the OpenMP threads that oneDNN uses too, so that there is one pool per calling thread.
//
// Any number of threads may call at the same time. How a range is cut never depends on the load, and kernels combine
// partial results in a fixed order, so results are the same from run to run.
#pragma once

#include <cstdint>

namespace burn::backends::cpu {

// BURN_NUM_THREADS, or else what OpenMP would use (OMP_NUM_THREADS, or else the cores this process may run on).
int thread_count();

// Makes OpenMP, and with it oneDNN, use thread_count() threads when called from this thread.
void adopt_this_thread();

// Elements of simple work that are worth waking another thread for.
inline constexpr std::int64_t kGrain = 32 * 1024;

namespace detail {
void parallel_for(std::int64_t n, std::int64_t grain, void (*body)(const void*, std::int64_t, std::int64_t),
                  const void* context);
}  // namespace detail

// Calls body(begin, end) for parts of [0, n) that have at least `grain` items, one part per thread. Inside another
// parallel_for it is one call. The body does not throw.
template <typename Body>
void parallel_for(std::int64_t n, std::int64_t grain, const Body& body) {
  if (n <= 0) return;
  if (n <= grain) return body(std::int64_t{0}, n);
  detail::parallel_for(
      n, grain,
      [](const void* context, std::int64_t begin, std::int64_t end) {
        (*static_cast<const Body*>(context))(begin, end);
      },
      &body);
}

}  // namespace burn::backends::cpu
