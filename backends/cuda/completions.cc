#include "backends/cuda/completions.h"

#include <chrono>
#include <thread>

#include <sys/prctl.h>

namespace burn::backends::cuda {

Completions::Completions(CUcontext context, CUstream stream)
    : context_(context), stream_(stream), thread_([this] { work(); }) {}

Completions::~Completions() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
  for (auto* event : free_events_) driver().cuEventDestroy(event);
}

CUevent Completions::take_event() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_events_.empty()) {
      auto* event = free_events_.back();
      free_events_.pop_back();
      return event;
    }
  }
  CUevent event = nullptr;
  driver().cuEventCreate(&event, CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC);
  return event;
}

void Completions::add(Body body) {
  auto* event = take_event();
  driver().cuEventRecord(event, stream_);
  {
    const std::lock_guard lock(mutex_);
    items_.push_back({event, std::move(body)});
  }
  changed_.notify_one();
}

// What is short is waited for in a loop, as waking a thread takes longer; what is longer is looked at now and then, for
// the driver's own waiting takes some 50 us to wake up; what is long must not keep a core from others.
Status Completions::wait(CUevent event) {
  constexpr std::chrono::microseconds kInLoop(200), kPolled(20'000);
  constexpr std::chrono::microseconds kNap(10);
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    const auto result = driver().cuEventQuery(event);
    if (result != CUDA_ERROR_NOT_READY) return check(result, "what the device was to do");
    const auto waited = std::chrono::steady_clock::now() - start;
    if (waited > kPolled) break;
    if (waited > kInLoop) std::this_thread::sleep_for(kNap);
  }
  return check(driver().cuEventSynchronize(event), "what the device was to do");
}

void Completions::work() {
  driver().cuCtxSetCurrent(context_);
  ::prctl(PR_SET_TIMERSLACK, 1UL);  // nanoseconds: a nap of 10 us would else take 60
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !items_.empty() || is_ending_; });
    if (items_.empty()) return;
    auto item = std::move(items_.front());
    items_.pop_front();
    lock.unlock();
    item.body(wait(item.event));
    item.body = nullptr;  // what it keeps is freed without the lock
    lock.lock();
    free_events_.push_back(item.event);
  }
}

}  // namespace burn::backends::cuda
