#include "backends/cpu/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include <omp.h>

#include "base/fork.h"
#include "base/settings.h"

namespace burn::backends::cpu {
namespace {

constexpr int kMaxThreads = 1024;

int configured_threads() {
  const auto wanted = numeric_setting(Setting::num_threads).value_or(0);
  const auto threads = wanted > 0 ? wanted : static_cast<std::uint64_t>(omp_get_max_threads());
  return static_cast<int>(std::clamp<std::uint64_t>(threads, 1, kMaxThreads));
}

// Set on a thread that is working on a part: what it calls runs on it alone.
thread_local bool is_working = false;

// Looks for a change a little longer than the usual pause between two ops takes; a thread that slept would take as long
// to wake.
template <typename Changed>
bool spin_until(const Changed& changed) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kPatience = std::chrono::microseconds(30);
  const auto deadline = Clock::now() + kPatience;
  do {
    for (int i = 0; i < 32; ++i) {
      if (changed()) return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  } while (Clock::now() < deadline);
  return false;
}

// One parallel_for. Lives on its caller's stack until the last part is done.
struct Job {
  std::int64_t n, parts;
  detail::PartBody body;
  const void* context;
  std::int64_t taken = 0;                    // guarded by Workers::mutex_
  std::atomic<std::int64_t> unfinished = 0;  // changed under Workers::mutex_

  void run_part(std::int64_t part) const {
    // Written so that no product leaves 64 bits.
    const auto size = n / parts, rest = n % parts;
    const auto begin = part * size + std::min(part, rest);
    body(context, begin, begin + size + (part < rest ? 1 : 0));
  }
};

class Workers {
 public:
  // Its threads sleep until the process ends.
  static Workers& instance() {
    static auto& workers = *new OnePerProcess<Workers>;
    return workers.get([] { return std::make_unique<Workers>(thread_count() - 1); });
  }

  explicit Workers(int count) {
    for (int i = 0; i < count; ++i) std::thread([this] { serve(); }).detach();
  }

  // Runs every part, together with whichever workers come by.
  void run(Job& job) {
    job.unfinished = job.parts;
    std::unique_lock lock(mutex_);
    open_.push_back(&job);
    arrivals_.fetch_add(1, std::memory_order_release);
    const auto sleepers = std::min<std::int64_t>(sleeping_, job.parts - 1);
    lock.unlock();
    for (std::int64_t i = 0; i < sleepers; ++i) wake_.notify_one();

    lock.lock();
    while (job.taken < job.parts) work_on(job, lock);
    lock.unlock();
    const auto is_done = [&] { return job.unfinished.load(std::memory_order_acquire) == 0; };
    if (spin_until(is_done)) return;
    lock.lock();
    done_.wait(lock, is_done);
  }

 private:
  [[noreturn]] void serve() {
    omp_set_num_threads(1);
    std::unique_lock lock(mutex_);
    while (true) {
      while (!open_.empty()) work_on(*open_.front(), lock);
      const auto seen = arrivals_.load(std::memory_order_relaxed);
      lock.unlock();
      spin_until([&] { return arrivals_.load(std::memory_order_acquire) != seen; });
      lock.lock();
      ++sleeping_;
      wake_.wait(lock, [&] { return !open_.empty(); });
      --sleeping_;
    }
  }

  // Takes one part and runs it. Requires: the lock is held, before and after; a part is left.
  void work_on(Job& job, std::unique_lock<std::mutex>& lock) {
    const auto part = job.taken++;
    if (job.taken == job.parts) std::erase(open_, &job);
    lock.unlock();
    is_working = true;
    job.run_part(part);
    is_working = false;
    lock.lock();
    // After this the job may be gone, unless this is its caller.
    if (job.unfinished.fetch_sub(1, std::memory_order_release) == 1) done_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::deque<Job*> open_;  // with parts that nobody has taken
  std::int64_t sleeping_ = 0;
  std::atomic<std::uint64_t> arrivals_ = 0;
};

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
  if (threads == 1 || is_working) return body(context, 0, n);
  const auto parts = std::min(threads * kPartsPerThread, n / std::max<std::int64_t>(grain, 1));
  if (parts <= 1) return body(context, 0, n);
  Job job{.n = n, .parts = parts, .body = body, .context = context};
  Workers::instance().run(job);
}

}  // namespace detail
}  // namespace burn::backends::cpu
