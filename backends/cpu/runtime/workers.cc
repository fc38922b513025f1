#include "backends/cpu/runtime/workers.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <limits>
#include <system_error>
#include <thread>
#include <utility>

#include <omp.h>

#include "backends/cpu/runtime/parallel.h"
#include "base/fork.h"
#include "base/thread.h"
#include "base/time_slice.h"

namespace burn::backends::cpu {
namespace {

thread_local bool is_at_work = false, is_of_pool = false;

using Clock = std::chrono::steady_clock;

// Lets a thread spin, waiting for a change, before it sleeps: for a little longer than the usual pause between two ops,
// and within a run for up to a quarter of the time that it has worked, which is saved for longer pauses; between runs
// the thread that sends the next one may want the core. Waking a sleeping thread takes as long, up to 50 us on virtual
// machines.
class SpinThenPark {
 public:
  void add_work(Clock::duration work) { saved_ = std::min<Clock::duration>(saved_ + work / 4, kMaxSaved); }

  template <typename Changed>
  bool wait(const Changed& changed) {
    const auto begin = Clock::now();
    const bool is_so = look(changed, begin);
    saved_ -= std::min(saved_, Clock::now() - begin);
    return is_so;
  }

 private:
  static constexpr std::chrono::microseconds kAlways{30}, kMaxSaved{300};

  template <typename Changed>
  bool look(const Changed& changed, Clock::time_point begin) const {
    while (true) {
      for (int i = 0; i < 32; ++i) {
        if (changed()) return true;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
      }
      const auto looked = Clock::now() - begin;
      if (looked < kAlways) continue;
      if (looked >= kAlways + saved_ || !ActiveRun::is_any()) return false;
      std::this_thread::yield();  // to threads that have something to do
    }
  }

  Clock::duration saved_{};
};

}  // namespace

void Job::run(std::int64_t begin, std::int64_t end) const {
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

bool Workers::is_working() { return is_at_work; }
bool Workers::is_own_thread() { return is_of_pool; }

Workers& Workers::instance() {
  static auto& workers = *new OnePerProcess<Workers>;
  return workers.get([] { return std::make_unique<Workers>(thread_count() - 1); });
}

Workers::Workers(int count)
    : count_(count),
      workers_(std::make_unique<Worker[]>(static_cast<std::size_t>(count))),
      slots_(std::make_unique<JobSlot[]>(kMaxOpen)) {
  const auto shares = static_cast<std::size_t>(std::min(count + 1, kMaxShares));
  for (int b = 0; b < kMaxOpen; ++b) slots_[b].shares = std::vector<Share>(shares);
  try {
    for (int i = 0; i < count; ++i) start_thread("burn-cpu", [this, i] { serve(i); }).detach();
  } catch (const std::system_error&) {  // the other threads take the shares of a thread that did not start
  }
}

Workers::Piece Workers::Division::share(std::int64_t i) const {
  const auto begin_of = [&](std::int64_t k) { return parts / shares * k + std::min(k, parts % shares); };
  return {begin_of(i), begin_of(i + 1)};
}

// Pieces are a quarter of what is left, or less if several threads work on a share.
Workers::Division Workers::divide(const Job& job) const {
  const auto shares = static_cast<std::int32_t>(std::min<std::int64_t>({job.parts, count_ + 1, kMaxShares}));
  return {job.parts, shares, 4 * ((count_ + shares) / shares)};
}

void Workers::run(const Job& job) {
  const Division division = this->divide(job);
  JobSlot* slot = claim();
  if (!slot) {
    for (std::int64_t s = 0; s < division.shares; ++s) {
      for (auto [begin, end] = division.share(s); begin < end;) {
        const auto next = division.end_of_piece(begin, end);
        job.run_parts(begin, next);
        begin = next;
      }
    }
    return;
  }
  slot->job = job;
  slot->division = division;
  slot->has_failed.store(false, std::memory_order_relaxed);
  for (std::int64_t s = 0; s < division.shares; ++s) {
    auto& share = slot->shares[static_cast<std::size_t>(s)];
    const auto [begin, end] = division.share(s);
    share.next.store(begin, std::memory_order_relaxed);
    share.end = end;
  }
  slot->unfinished.store(job.parts, std::memory_order_relaxed);
  // Concurrent callers begin with different threads, a single caller always with the same.
  slot->first_worker = std::popcount(open_.load()) * 4 % count_;
  slot->invited.store(1, std::memory_order_relaxed);  // the first share is the caller's
  open_.fetch_or(bit_of(*slot));
  invite(*slot);

  SpinThenPark spin;
  const auto begin = Clock::now();
  work_on(*slot, 0, false);
  spin.add_work(Clock::now() - begin);
  open_.fetch_and(~bit_of(*slot));
  const auto is_done = [&] { return slot->unfinished.load() == 0; };
  if (!spin.wait(is_done)) {
    std::unique_lock lock(slot->mutex);
    slot->is_awaited = true;
    slot->done.wait(lock, is_done);
    slot->is_awaited = false;
  }
  const auto failure = std::exchange(slot->failure, nullptr);
  slot->is_claimed.store(false, std::memory_order_release);
  if (failure) std::rethrow_exception(failure);
}

Workers::JobSlot* Workers::claim() {
  for (int b = 0; b < kMaxOpen; ++b) {
    auto& slot = slots_[b];
    if (slot.is_claimed.load(std::memory_order_relaxed) || slot.is_claimed.exchange(true)) continue;
    if (slot.visitors.load() == 0) return &slot;
    slot.is_claimed = false;  // a thread has not left the slot's last job yet
  }
  return nullptr;
}

// Wakes the threads of shares that were not called yet. Waking one takes a while, so no thread wakes more than two;
// those wake the next.
void Workers::invite(JobSlot& slot) {
  for (int woken = 0; woken < 2;) {
    if (slot.invited.load(std::memory_order_relaxed) >= slot.division.shares) return;
    const auto share = slot.invited.fetch_add(1, std::memory_order_relaxed);
    if (share >= slot.division.shares) return;
    auto& worker = workers_[static_cast<std::size_t>((slot.first_worker + share - 1) % count_)];
    worker.wakeups.fetch_add(1);
    if (!worker.is_asleep) continue;
    ++woken;
    { const std::lock_guard lock(worker.mutex); }
    worker.wake.notify_one();
  }
}

// The inverse of invite(); a thread without a share of its own begins with another's.
std::int32_t Workers::share_of(int worker, const JobSlot& slot) const {
  return ((worker - slot.first_worker + count_) % count_ + 1) % slot.division.shares;
}

void Workers::serve(int index) {
  is_of_pool = true;
  omp_set_num_threads(1);
  request_time_slice(TimeSlice::usual);
  auto& me = workers_[static_cast<std::size_t>(index)];
  unsigned turn = 0;
  SpinThenPark spin;
  while (true) {
    const auto seen = me.wakeups.load();
    const auto is_called = [&] { return me.wakeups.load() != seen; };
    const auto begin = Clock::now();
    if (work_on_any(index, turn)) {
      spin.add_work(Clock::now() - begin);
      continue;
    }
    if (spin.wait(is_called)) continue;
    std::unique_lock lock(me.mutex);
    me.is_asleep = true;
    me.wake.wait(lock, is_called);
    me.is_asleep = false;
  }
}

// Returns whether there was anything to do. Begins with another job each time.
bool Workers::work_on_any(int index, unsigned& turn) {
  bool worked = false;
  const auto open = open_.load();
  auto left = std::rotr(open, static_cast<int>(turn));
  for (auto at = turn; left != 0; left >>= 1, ++at) {
    if ((left & 1) == 0) continue;
    auto& slot = slots_[at % kMaxOpen];
    ++slot.visitors;
    if ((open_.load() & bit_of(slot)) != 0) {
      invite(slot);
      worked |= work_on(slot, share_of(index, slot), !std::has_single_bit(open));
    }
    --slot.visitors;
  }
  turn = (turn + 1) % kMaxOpen;
  return worked;
}

// Takes pieces until none is left, or a single one if other jobs wait, too. Returns whether there was one.
bool Workers::work_on(JobSlot& slot, std::int32_t share, bool one_piece) {
  bool worked = false;
  for (auto piece = take(slot, share); !piece.is_empty(); piece = one_piece ? Piece{} : take(slot, share)) {
    run_parts(slot, piece);
    worked = true;
    const auto parts = piece.end - piece.begin;
    if (slot.unfinished.fetch_sub(parts) == parts && slot.is_awaited) {
      {
        const std::lock_guard lock(slot.mutex);
      }
      slot.done.notify_all();
    }
  }
  return worked;
}

void Workers::run_parts(JobSlot& slot, Piece piece) {
  if (slot.has_failed.load(std::memory_order_relaxed)) return;
  const InterruptScope scope(slot.job.interrupt);
  is_at_work = true;
  try {
    slot.job.run_parts(piece.begin, piece.end);
  } catch (...) {
    const std::lock_guard lock(slot.mutex);
    if (!slot.has_failed.exchange(true)) slot.failure = std::current_exception();
  }
  is_at_work = false;
}

Workers::Piece Workers::take(const Division& division, Share& from) {
  auto begin = from.next.load(std::memory_order_relaxed);
  while (begin < from.end) {
    const auto end = division.end_of_piece(begin, from.end);
    if (from.next.compare_exchange_weak(begin, end, std::memory_order_relaxed)) return {begin, end};
  }
  return {};
}

// Takes a piece of the share, or else of the next share that has some left; empty: all are taken.
Workers::Piece Workers::take(JobSlot& slot, std::int32_t share) {
  for (std::int32_t k = 0; k < slot.division.shares; ++k) {
    const auto piece = take(slot.division, slot.shares[static_cast<std::size_t>((share + k) % slot.division.shares)]);
    if (!piece.is_empty()) return piece;
  }
  return {};
}

}  // namespace burn::backends::cpu
