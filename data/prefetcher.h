// Threads that make numbered things ahead of the thread that takes them in order. The loader's engine, free of item
// types.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/fork.h"
#include "data/batch_hooks.h"

namespace burn::data {

// Owned and used by one thread, the consumer. The destructor waits for the batches being made, not for those still to
// come.
class Prefetcher {
 public:
  using Make = std::function<std::shared_ptr<void>(std::size_t index)>;

  // Calls make(0), ..., make(count - 1) on `workers` threads (0: on the consumer's, when it asks), at most `ahead` of
  // them before they are taken. `make` is called from several threads at once, and must not return nullptr.
  Prefetcher(std::size_t count, std::size_t workers, std::size_t ahead, Make make, BatchHooks hooks);
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;
  ~Prefetcher();

  // The next one in order, nullptr after the last. An exception of make(i) comes out of the i-th call; nothing follows
  // it. Errors (thrown): FAILED_PRECONDITION in the child of a fork(), where there are no workers any more.
  std::shared_ptr<void> next();

  // The child of a fork() has no such threads to wait for: the object is left as it is, undestroyed.
  struct Delete {
    void operator()(Prefetcher* prefetcher) const;
  };
  using Owner = std::unique_ptr<Prefetcher, Delete>;

 private:
  // Where batch i waits to be taken, i modulo the number of slots.
  struct Slot {
    std::shared_ptr<void> token;  // before the batch, so that it is destroyed after it
    std::shared_ptr<void> batch;
    std::exception_ptr error;
    bool ready = false;
  };

  bool has_lost_workers() const { return !threads_.empty() && forks_ != fork_count(); }
  void work();
  std::shared_ptr<void> make_in_scope(std::size_t index) const;
  Slot produce(std::size_t index) const;
  Slot make_here();
  Slot take();
  void stop();

  const std::uint32_t forks_;
  const Make make_;
  const BatchHooks hooks_;
  std::size_t count_;      // shrinks to what is taken when a batch fails; the consumer's
  std::size_t taken_ = 0;  // the consumer's, written under the mutex

  std::mutex mutex_;  // guards what follows
  std::condition_variable room_, ready_;
  std::vector<Slot> slots_;
  std::size_t started_ = 0, limit_;  // the next to make; where to end
  bool stopping_ = false;

  std::vector<std::thread> threads_;
};

}  // namespace burn::data
