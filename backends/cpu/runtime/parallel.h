// Loops spread over the cores: one pool of threads for the whole process, shared by all callers.
//
// Any number of threads may call at the same time. The caller works too and takes parts that have not begun, so a busy
// machine makes it slower but never makes it wait for a thread that the system does not run. How a range is cut depends
// only on its size and thread_count(), and kernels combine partial results in a fixed order: results are the same from
// run to run.
//
// A body may throw: parts that have not begun are skipped, and the caller gets the first exception when no thread works
// on the job any more. So an allocation that fails on a thread of the pool fails one run, and a run that has to end
// (backends/interrupt.h) ends between two parts, or within one, after at most 64 grains of it.
#pragma once

#include <cstdint>

namespace burn::backends::cpu {

// BURN_NUM_THREADS, else OMP_NUM_THREADS, else the cores that affinity and control groups allow this process.
int thread_count();

// While it lives, OpenBLAS and oneDNN use `threads` threads of their own (OpenMP's) when called from this thread. The
// threads of our pool call them with 1, as OpenMP's threads would wait for each other by spinning.
class LibraryThreads {
 public:
  explicit LibraryThreads(int threads);
  LibraryThreads(const LibraryThreads&) = delete;
  LibraryThreads& operator=(const LibraryThreads&) = delete;
  ~LibraryThreads();

 private:
  int before_;
};

// Number of elements of simple work that are worth waking another thread for.
inline constexpr std::int64_t kGrain = std::int64_t{32} * 1024;

namespace detail {
using PartBody = void (*)(const void* context, std::int64_t begin, std::int64_t end);
void parallel_for(std::int64_t n, std::int64_t grain, PartBody body, const void* context);
void parallel_for_each(std::int64_t n, PartBody body, const void* context);

template <typename Body>
void call_part(const void* context, std::int64_t begin, std::int64_t end) {
  (*static_cast<const Body*>(context))(begin, end);
}
}  // namespace detail

// Calls body(begin, end) for parts of [0, n) that have at least `grain` items. Inside another parallel_for it makes one
// call.
template <typename Body>
void parallel_for(std::int64_t n, std::int64_t grain, const Body& body) {
  if (n <= 0) return;
  if (n <= grain) return body(std::int64_t{0}, n);
  detail::parallel_for(n, grain, detail::call_part<Body>, &body);
}

// The same for long work: every item is a part of its own, so that threads of different speeds share it well.
template <typename Body>
void parallel_for_each(std::int64_t n, const Body& body) {
  if (n == 1) return body(std::int64_t{0}, n);
  if (n > 1) detail::parallel_for_each(n, detail::call_part<Body>, &body);
}

}  // namespace burn::backends::cpu
