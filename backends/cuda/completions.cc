#include "backends/cuda/completions.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include <sys/prctl.h>

namespace burn::backends::cuda {
namespace {

// About a microsecond. A question takes the driver's lock, which the thread that enqueues wants, too.
void pause_between_questions() {
  for (int i = 0; i < 16; ++i) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
  }
}

}  // namespace

Completions::Completions(CUcontext context, CUstream stream, std::shared_ptr<Events> events)
    : context_(context), stream_(stream), events_(std::move(events)), thread_([this] { work(); }) {}

Completions::~Completions() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Completions::add(Body body, Result<Event> event) {
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    is_first = items_.empty();
    items_.push_back({std::move(event), std::move(body)});
  }
  if (is_first) changed_.notify_one();  // who has others before it is awake
}

// What is short is waited for in a loop, as waking a thread takes longer; what is longer is looked at after naps of a
// 256th of the time that it has taken so far. Never by the driver's own waiting: that takes some 50 us to wake up, and
// once it is used, every event that it could wait for is an interrupt, which the driver's thread for them handles.
Status Completions::wait(const Result<Event>& event) {
  using std::chrono::microseconds;
  constexpr microseconds kInLoop(200), kShortestNap(10), kLongestNap(1000);
  BURN_RETURN_IF_ERROR(event.status());
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    const auto result = driver().cuEventQuery(event->get());
    if (result != CUDA_ERROR_NOT_READY) return check(result, "what the device was to do");
    const auto waited = std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now() - start);
    if (waited > kInLoop)
      std::this_thread::sleep_for(std::clamp(waited / 256, kShortestNap, kLongestNap));
    else
      pause_between_questions();
  }
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
    item.event = Event();
    lock.lock();
  }
}

}  // namespace burn::backends::cuda
