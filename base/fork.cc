#include "base/fork.h"

#include <array>

#include <pthread.h>

#include "base/error.h"

namespace burn {
namespace {

// An append-only list, read without a lock: its own mutex would have to be locked before all those in it.
template <typename T>
class AppendOnlyList {
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

struct ForkHandlers {
  ForkHandlers() { ::pthread_atfork(before, in_parent, in_child); }

  static void before();
  static void in_parent();
  static void in_child();

  AppendOnlyList<std::mutex*> mutexes, leaves;  // locked in this order
  AppendOnlyList<void (*)()> hooks;
  std::mutex forking;                   // two threads may call fork() at the same time
  std::array<std::mutex*, 128> held{};  // by the current fork()
  std::size_t held_count = 0;
};

ForkHandlers& handlers() {
  static auto& all = *new ForkHandlers;  // never destroyed
  return all;
}

void ForkHandlers::before() {
  ForkHandlers& all = handlers();
  all.forking.lock();
  all.held_count = 0;
  const auto hold = [&](std::mutex* mutex) {
    mutex->lock();
    all.held[all.held_count++] = mutex;
  };
  all.mutexes.for_each(hold);
  all.leaves.for_each(hold);
}

void ForkHandlers::in_parent() {
  ForkHandlers& all = handlers();
  for (std::size_t i = 0; i < all.held_count; ++i) all.held[i]->unlock();
  all.forking.unlock();
}

void ForkHandlers::in_child() {
  detail::fork_count.fetch_add(1, std::memory_order_relaxed);
  in_parent();  // this thread holds the locks
  handlers().hooks.for_each([](void (*hook)()) { hook(); });
}

}  // namespace

void install_fork_handlers() { (void)handlers(); }  // its first call registers the handlers

void lock_during_fork(std::mutex& mutex) { handlers().mutexes.add(&mutex); }

void lock_last_during_fork(std::mutex& mutex) { handlers().leaves.add(&mutex); }

void after_fork(void (*in_child)()) { handlers().hooks.add(in_child); }

}  // namespace burn
