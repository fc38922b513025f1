#include "base/fork.h"

#include <array>

#include <pthread.h>

#include "base/error.h"

namespace burn {
namespace {

// Grows only, and is read without a lock: a mutex of its own would have to be taken before all those in it.
template <typename T>
class List {
 public:
  void add(T item) {
    const std::size_t at = reserved_.fetch_add(1);
    BURN_CHECK(at < items_.size(), "too many things that care for forks");
    items_[at].store(item, std::memory_order_release);
  }
  template <typename Body>
  void for_each(const Body& body) const {
    for (const auto& item : items_) {
      if (T it = item.load(std::memory_order_acquire)) body(it);
    }
  }

 private:
  std::atomic<std::size_t> reserved_ = 0;
  std::array<std::atomic<T>, 64> items_{};
};

struct Watch {
  Watch() { ::pthread_atfork(before, in_parent, in_child); }

  static void before();
  static void in_parent();
  static void in_child();

  List<std::mutex*> mutexes, leaves;  // taken in this order
  List<void (*)()> hooks;
  std::mutex forking;                   // two threads may fork() at a time
  std::array<std::mutex*, 128> held{};  // by the fork() under way
  std::size_t held_count = 0;
};

Watch& watch() {
  static auto& all = *new Watch;  // there to the end
  return all;
}

void Watch::before() {
  Watch& all = watch();
  all.forking.lock();
  all.held_count = 0;
  const auto hold = [&](std::mutex* mutex) {
    mutex->lock();
    all.held[all.held_count++] = mutex;
  };
  all.mutexes.for_each(hold);
  all.leaves.for_each(hold);
}

void Watch::in_parent() {
  Watch& all = watch();
  for (std::size_t i = 0; i < all.held_count; ++i) all.held[i]->unlock();
  all.forking.unlock();
}

void Watch::in_child() {
  detail::fork_count.fetch_add(1, std::memory_order_relaxed);
  in_parent();  // the locks are this thread's
  watch().hooks.for_each([](void (*hook)()) { hook(); });
}

}  // namespace

void watch_forks() { (void)watch(); }  // its first call registers the handlers

void keep_whole_over_forks(std::mutex& mutex) { watch().mutexes.add(&mutex); }

void keep_leaf_whole_over_forks(std::mutex& mutex) { watch().leaves.add(&mutex); }

void after_fork(void (*in_child)()) { watch().hooks.add(in_child); }

}  // namespace burn
