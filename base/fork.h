// Support for fork(): the child has a copy of the memory, locks in whatever state they were, and none of the other
// threads.
//
// Sessions, connections and thread pools therefore work in the parent only. An object that has one stores fork_count()
// when it is made; in the child, where the count is higher, it reports an error instead of waiting for threads that do
// not exist.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace burn {

namespace detail {
inline constinit std::atomic<std::uint32_t> fork_count{0};
}

// Incremented in the child of a fork(). Counts from the first call of install_fork_handlers().
inline std::uint32_t fork_count() { return detail::fork_count.load(std::memory_order_relaxed); }

// Installs the fork handlers once. Thread-safe, also during static initialisation.
void install_fork_handlers();

// Makes fork() lock the mutex first, so that in the child it is free and the data it guards is consistent. Requires:
// the mutex is never destroyed, and a thread that holds it does not lock another such mutex, fork, or wait for long.
void lock_during_fork(std::mutex& mutex);
// The same for a leaf mutex: no other is locked while it is held, but it may be locked while others are held. fork()
// locks leaves last.
void lock_last_during_fork(std::mutex& mutex);

// Registers a function that is called at the start of every child, on its only thread.
void after_fork(void (*in_child)());

// A singleton T, made at the first get() and never destroyed, as static objects may use it until the process ends. The
// child of a fork() makes its own, since the parent's threads do not run there. Requires: the OnePerProcess is never
// destroyed either. Thread-safe.
template <typename T>
class OnePerProcess {
 public:
  OnePerProcess() { lock_during_fork(making_); }
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
