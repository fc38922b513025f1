// Worker threads that make batches ahead of the thread that takes them in order. The part of the loader that does not
// depend on item types.
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

// Owned and used by one thread, the consumer. The destructor waits for batches that are being made; it starts no
// others.
class Prefetcher {
 public:
  using Make = std::function<std::shared_ptr<void>(std::size_t index)>;

  // Calls make(0), ..., make(count - 1) on `workers` threads (0: on the consumer's, in next()); at most `ahead` batches
  // are made before they are taken. `make` is called from several threads at once, and must not return nullptr.
  Prefetcher(std::size_t count, std::size_t workers, std::size_t ahead, Make make, BatchHooks hooks);
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;
  ~Prefetcher();

  // Returns the next batch in order, nullptr after the last. An exception of make(i) is rethrown by the i-th call, and
  // ends the sequence. Errors (thrown): FAILED_PRECONDITION in the child of a fork(), which has no worker threads.
  std::shared_ptr<void> next();

  // In the child of a fork() the object is not destroyed, as there are no threads to wait for.
  struct Delete {
    void operator()(Prefetcher* prefetcher) const;
  };
  using Owner = std::unique_ptr<Prefetcher, Delete>;

 private:
  // Holds batch i until it is taken; its index is i modulo the number of slots.
  struct Slot {
    std::shared_ptr<void> token;  // declared before the batch, so that it is destroyed after it
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
  std::size_t count_;      // reduced to taken_ when a batch fails; used by the consumer only
  std::size_t taken_ = 0;  // written by the consumer only, under the mutex

  std::mutex mutex_;  // guards the members below
  std::condition_variable room_, ready_;
  std::vector<Slot> slots_;
  std::size_t started_ = 0, limit_;  // the next batch to make; the end of the batches to make
  bool stopping_ = false;

  std::vector<std::thread> threads_;
};

}  // namespace burn::data
