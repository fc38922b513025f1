#include "data/prefetcher.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace burn::data {
namespace {

struct GlobalHooks {
  GlobalHooks() { lock_during_fork(mutex); }

  std::mutex mutex;
  BatchHooks hooks;
};

GlobalHooks& global_hooks() {
  static auto& hooks = *new GlobalHooks;  // never destroyed: loaders may be static objects
  return hooks;
}

// Ensures that a worker's recording is detached after each batch: by detach(), or by the destructor if the batcher
// throws.
class Recorded {
 public:
  explicit Recorded(const BatchHooks& hooks) : hooks_(hooks) {}
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;
  ~Recorded() {
    if (is_detached_) return;
    try {
      (void)detach();  // drops the recording of a batch that was not made
    } catch (...) {    // NOLINT: the batcher's exception is the one to report
    }
  }
  std::shared_ptr<void> detach() {
    is_detached_ = true;
    return hooks_.detach ? hooks_.detach() : nullptr;
  }

 private:
  const BatchHooks& hooks_;
  bool is_detached_ = false;
};

}  // namespace

void set_batch_hooks(BatchHooks hooks) {
  auto& global = global_hooks();
  const std::lock_guard lock(global.mutex);
  global.hooks = std::move(hooks);
}

BatchHooks batch_hooks() {
  auto& global = global_hooks();
  const std::lock_guard lock(global.mutex);
  return global.hooks;
}

Prefetcher::Prefetcher(std::size_t count, std::size_t workers, std::size_t ahead, Make make, BatchHooks hooks)
    : forks_((install_fork_handlers(), fork_count())),
      make_(std::move(make)),
      hooks_(std::move(hooks)),
      count_(count),
      slots_(std::clamp<std::size_t>(ahead, 1, std::max<std::size_t>(count, 1))),
      limit_(count) {
  try {
    // Not by start_thread(), which blocks signals: these threads run user code, which handles signals as elsewhere.
    for (std::size_t i = 0; i < std::min(workers, count); ++i) threads_.emplace_back(&Prefetcher::work, this);
  } catch (...) {  // a thread could not be started
    stop();
    throw;
  }
}

Prefetcher::~Prefetcher() { stop(); }

void Prefetcher::Delete::operator()(Prefetcher* prefetcher) const {
  if (!prefetcher->has_lost_workers()) delete prefetcher;
}

std::shared_ptr<void> Prefetcher::next() {
  if (taken_ == count_) return nullptr;
  if (has_lost_workers()) {
    throw Error(
        StatusCode::failed_precondition,
        "a loader's batches are made by threads of the process that began the pass, before fork() made this one; begin "
        "another pass here");
  }
  if (hooks_.before_next) hooks_.before_next();
  Slot slot = threads_.empty() ? make_here() : take();
  if (slot.error) {
    count_ = taken_;
    std::rethrow_exception(slot.error);
  }
  if (hooks_.adopt && !threads_.empty()) hooks_.adopt(std::move(slot.token));
  return std::move(slot.batch);
}

Prefetcher::Slot Prefetcher::make_here() {
  Slot slot;
  try {
    slot.batch = make_in_scope(taken_++);
  } catch (...) {
    slot.error = std::current_exception();
  }
  return slot;
}

Prefetcher::Slot Prefetcher::take() {
  std::unique_lock lock(mutex_);
  auto& slot = slots_[taken_ % slots_.size()];
  ready_.wait(lock, [&] { return slot.ready; });
  ++taken_;
  room_.notify_one();
  return std::exchange(slot, {});
}

void Prefetcher::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    room_.wait(lock, [&] { return stopping_ || started_ >= limit_ || started_ < taken_ + slots_.size(); });
    if (stopping_ || started_ >= limit_) return;
    const std::size_t index = started_++;
    lock.unlock();
    Slot made = produce(index);
    lock.lock();
    if (made.error) {  // the batches after it will not be taken
      limit_ = std::min(limit_, index + 1);
      room_.notify_all();
    }
    slots_[index % slots_.size()] = std::move(made);
    ready_.notify_one();
  }
}

std::shared_ptr<void> Prefetcher::make_in_scope(std::size_t index) const {
  const std::shared_ptr<void> scope = hooks_.scope ? hooks_.scope() : nullptr;
  return make_(index);
}

Prefetcher::Slot Prefetcher::produce(std::size_t index) const {
  Slot slot;
  try {
    Recorded recorded(hooks_);
    slot.batch = make_in_scope(index);
    slot.token = recorded.detach();
  } catch (...) {
    slot.batch = nullptr;
    slot.error = std::current_exception();
  }
  slot.ready = true;
  return slot;
}

void Prefetcher::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  room_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace burn::data
