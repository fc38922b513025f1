// Annotations that say what a mutex guards and which functions require it to be locked, checked by clang
// (-Wthread-safety: the preset "clang", scripts/check). Other compilers ignore them.
//
//   Mutex mutex_;
//   int count_ BURN_GUARDED_BY(mutex_) = 0;
//   void add() BURN_REQUIRES(mutex_);    // the caller holds it
//   void flush() BURN_EXCLUDES(mutex_);  // takes it itself
//
// std::mutex has these annotations only in libc++; Mutex is an annotated std::mutex, and MutexLock its std::lock_guard.
#pragma once

#include <mutex>

#ifdef __clang__
#define BURN_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define BURN_THREAD_ATTRIBUTE(x)
#endif

#define BURN_GUARDED_BY(mutex) BURN_THREAD_ATTRIBUTE(guarded_by(mutex))
#define BURN_REQUIRES(...) BURN_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define BURN_EXCLUDES(...) BURN_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))

namespace burn {

class BURN_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  void lock() BURN_THREAD_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
  void unlock() BURN_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
  bool try_lock() BURN_THREAD_ATTRIBUTE(try_acquire_capability(true)) { return mutex_.try_lock(); }
  std::mutex& native() { return mutex_; }  // for APIs that need a std::mutex, like lock_during_fork()

 private:
  std::mutex mutex_;
};

class BURN_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) BURN_THREAD_ATTRIBUTE(acquire_capability(mutex)) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() BURN_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace burn
