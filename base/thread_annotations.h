// What a mutex guards and which functions want it held, in a form that clang checks (-Wthread-safety: the preset
// "clang", scripts/check). Other compilers read it as a comment.
//
//   Mutex mutex_;
//   int count_ BURN_GUARDED_BY(mutex_) = 0;
//   void add() BURN_REQUIRES(mutex_);    // the caller holds it
//   void flush() BURN_EXCLUDES(mutex_);  // takes it itself
//
// std::mutex says nothing to clang, but under libc++; Mutex is one that does, and MutexLock a std::lock_guard of it.
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
  std::mutex& native() { return mutex_; }  // for what takes no other: condition variables, keep_whole_over_forks

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
