#include "backends/cuda/runtime/completions.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include <sys/prctl.h>

#include "base/machine.h"
#include "base/thread.h"

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

// One of the cores that threads of this kind may keep busy, of all streams together.
class SpareCore {
 public:
  SpareCore() = default;
  SpareCore(const SpareCore&) = delete;
  SpareCore& operator=(const SpareCore&) = delete;
  ~SpareCore() {
    if (is_taken_) --taken_;
  }

  // False: there is none.
  bool take() {
    if (is_taken_) return true;
    is_taken_ = ++taken_ <= cores_to_spare();
    if (!is_taken_) --taken_;
    return is_taken_;
  }

 private:
  static inline constinit std::atomic<int> taken_ = 0;
  bool is_taken_ = false;
};

}  // namespace

Completions::Completions(CUcontext context, CUstream stream, std::shared_ptr<Events> events)
    : context_(context),
      stream_(stream),
      events_(std::move(events)),
      thread_(start_thread("burn-device", [this] { work(); })) {}

Completions::~Completions() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Completions::add(Item item) {
  bool is_first = false;
  if (item.is_awaited) ++awaited_;
  {
    const std::lock_guard lock(mutex_);
    is_first = items_.empty();
    items_.push_back(std::move(item));
  }
  if (is_first) changed_.notify_one();  // who has others before it is awake
}

// What is short is waited for in a loop, as waking a thread takes longer (and its core 50 us, on virtual machines), and
// so is what somebody waits for, as long as that is worth while and cores are to spare; else it is looked at after naps
// of a 256th of the time that it has taken so far. Never by the driver's own waiting: that takes some 50 us to wake up,
// too, and once it is used, every event that it could wait for is an interrupt, which the driver's thread for them
// handles.
Status Completions::wait(const Result<Event>& event) const {
  using std::chrono::microseconds;
  constexpr microseconds kInLoop(200), kInLoopIfAwaited(5000), kShortestNap(10), kLongestNap(1000);
  BURN_RETURN_IF_ERROR(event.status());
  const auto start = std::chrono::steady_clock::now();
  SpareCore core;
  while (true) {
    const auto result = driver().cuEventQuery(event->get());
    if (result != CUDA_ERROR_NOT_READY) return check(result, "what the device was to do");
    const auto waited = std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now() - start);
    if (waited <= kInLoop) {
      pause_between_questions();
    } else if (waited <= kInLoopIfAwaited && awaited_ > 0 && core.take()) {
      pause_between_questions();
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::clamp(waited / 256, kShortestNap, kLongestNap));
    }
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
    if (item.is_awaited) --awaited_;
    lock.lock();
  }
}

}  // namespace burn::backends::cuda
