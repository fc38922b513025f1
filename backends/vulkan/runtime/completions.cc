#include "backends/vulkan/runtime/completions.h"

#include "base/thread.h"

namespace burn::backends::vulkan {

Completions::Completions(std::shared_ptr<Timeline> timeline)
    : timeline_(std::move(timeline)), thread_(start_thread("burn-vulkan", [this] { work(); })) {
  if (timeline_->queue() != Queue::compute) return;
  timeline_->set_watcher([this](std::uint64_t number) {
    add({number, {}, [this](const Status&) { timeline_->hand_in_if_due(); }});
  });
}

Completions::~Completions() {
  timeline_->set_watcher(nullptr);
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Completions::add(Body body, Await beside) {
  add(Item{timeline_->submitted(), std::move(beside), std::move(body)});
}

void Completions::add(Item item) {
  {
    const std::lock_guard lock(mutex_);
    items_.push_back(std::move(item));
  }
  changed_.notify_one();
}

void Completions::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !items_.empty() || is_ending_; });
    if (items_.empty()) return;
    auto item = std::move(items_.front());
    items_.pop_front();
    lock.unlock();
    auto status = timeline_->wait(item.number);
    if (status.ok() && item.beside.of) status = item.beside.of->wait(item.beside.number);
    item.body(status);
    item.body = nullptr;  // what it keeps is freed without the lock
    lock.lock();
  }
}

}  // namespace burn::backends::vulkan
