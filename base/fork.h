// What fork() leaves of a process: the child has its memory, but none of its threads, and locks as they happened to be.
//
// Sessions, connections and pools of threads therefore stay with the parent. Whatever has one remembers fork_count() of
// its beginning, and in the child, where that has grown, says so instead of waiting for threads that are not there.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace burn {

namespace detail {
inline constinit std::atomic<std::uint32_t> fork_count{0};
}

// Rises by one in the child of a fork(). Counts from the first call of watch_forks(), before which there is nothing to
// lose.
inline std::uint32_t fork_count() { return detail::fork_count.load(std::memory_order_relaxed); }

// Thread-safe, also while static objects are built.
void watch_forks();

// In the child the mutex is free, and what it guards is whole: a fork() waits for the thread that holds it. Requires:
// it lives to the end of the process, and a thread that holds it does not lock another such mutex, fork, or wait for
// long.
void keep_whole_over_forks(std::mutex& mutex);
// The same for one under which no other is taken, while others may be held when it is: a fork takes it after those.
void keep_leaf_whole_over_forks(std::mutex& mutex);

// Calls `in_child` at the beginning of every child, on its only thread.
void after_fork(void (*in_child)());

// A T for the whole process, made when it is first asked for and never destroyed: objects of any age may still need it.
// The child of a fork() gets one of its own; its parent's threads do not run there. Itself never destroyed, either.
// Thread-safe.
template <typename T>
class OnePerProcess {
 public:
  OnePerProcess() { keep_whole_over_forks(making_); }
  OnePerProcess(const OnePerProcess&) = delete;
  OnePerProcess& operator=(const OnePerProcess&) = delete;

  // `make` returns a std::unique_ptr<T>. It must not ask for the same object.
  template <typename Make>
  T& get(const Make& make) {
    Made* made = made_.load(std::memory_order_acquire);
    if (made != nullptr && made->forks == fork_count()) return *made->object;
    const std::lock_guard lock(making_);
    made = made_.load(std::memory_order_relaxed);
    if (made == nullptr || made->forks != fork_count()) {
      made = new Made{make().release(), fork_count()};
      made_.store(made, std::memory_order_release);
    }
    return *made->object;
  }
  T& get() {
    return get([] { return std::make_unique<T>(); });
  }

 private:
  struct Made {
    T* object;
    std::uint32_t forks;
  };
  std::mutex making_;
  std::atomic<Made*> made_ = nullptr;
};

}  // namespace burn
