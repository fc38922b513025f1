#include "backends/cpu/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include <omp.h>

#include "backends/interrupt.h"
#include "base/fork.h"
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

// Calls body for [begin, end), with a look at whether the run is to end before every so many grains of it.
void in_bounded_steps(std::int64_t begin, std::int64_t end, std::int64_t grain, detail::PartBody body,
                      const void* context) {
  constexpr std::int64_t kGrainsAtOnce = 64;  // a few milliseconds of simple work
  const auto most =
      std::clamp<std::int64_t>(grain, 1, std::numeric_limits<std::int64_t>::max() / kGrainsAtOnce) * kGrainsAtOnce;
  while (end - begin > most) {
    throw_if_interrupted();
    const auto next = begin + (end - begin >= 2 * most ? most : (end - begin) / 2);
    body(context, begin, next);
    begin = next;
  }
  throw_if_interrupted();
  body(context, begin, end);
}

// One parallel_for. Lives on its caller's stack until the last part is done.
struct Job {
  std::int64_t n, parts, grain;
  detail::PartBody body;
  const void* context;
  const Interrupt* interrupt = InterruptScope::current();  // its caller's
  std::int64_t taken = 0;                                  // guarded by Workers::mutex_
  std::atomic<std::int64_t> unfinished = 0;                // changed under Workers::mutex_
  std::atomic<bool> has_failed = false;                    // what is not begun yet is left out
  std::exception_ptr failure = nullptr;  // the first; guarded by Workers::mutex_ until nothing is unfinished

  // What the part throws; nothing for one that went well.
  std::exception_ptr run_part(std::int64_t part) {
    if (has_failed.load(std::memory_order_relaxed)) return nullptr;
    const InterruptScope scope(interrupt);
    // Written so that no product leaves 64 bits.
    const auto size = n / parts, rest = n % parts;
    const auto begin = part * size + std::min(part, rest);
    try {
      in_bounded_steps(begin, begin + size + (part < rest ? 1 : 0), grain, body, context);
      return nullptr;
    } catch (...) {
      has_failed.store(true, std::memory_order_relaxed);
      return std::current_exception();
    }
  }
};

class Workers {
 public:
  // Its threads sleep until the process ends.
  static Workers& instance() {
    static auto& workers = *new OnePerProcess<Workers>;
    return workers.get([] { return std::make_unique<Workers>(thread_count() - 1); });
  }

  // Where the system has no more threads, those there are do.
  explicit Workers(int count) {
    try {
      for (int i = 0; i < count; ++i) std::thread([this] { serve(); }).detach();
    } catch (const std::system_error&) {
    }
  }

  // Runs every part, together with whichever workers come by. Throws what a part threw, when none is at it any more.
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
    if (!spin_until(is_done)) {
      lock.lock();
      done_.wait(lock, is_done);
    }
    if (job.failure) std::rethrow_exception(job.failure);
  }

 private:
  [[noreturn]] void serve() {
    omp_set_num_threads(1);
    std::unique_lock lock(mutex_);
    while (true) {
      // A part of each job in turn: a large one does not keep a pool from a small one.
      for (std::size_t turn = 0; !open_.empty(); ++turn) work_on(*open_[turn % open_.size()], lock);
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
    auto failure = job.run_part(part);
    is_working = false;
    lock.lock();
    if (failure && !job.failure) job.failure = std::move(failure);
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
  if (is_working) return body(context, 0, n);
  const auto parts = std::min(threads * kPartsPerThread, n / std::max<std::int64_t>(grain, 1));
  if (threads == 1 || parts <= 1) return in_bounded_steps(0, n, grain, body, context);
  Job job{.n = n, .parts = parts, .grain = grain, .body = body, .context = context};
  Workers::instance().run(job);
}

}  // namespace detail
}  // namespace burn::backends::cpu
