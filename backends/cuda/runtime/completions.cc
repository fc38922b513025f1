#include "backends/cuda/runtime/completions.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include <sys/prctl.h>

#include "base/machine.h"

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
    : stream_(stream),
      events_(std::move(events)),
      thread_(
          "burn-device",
          [this](const Point& point) {
            auto status = wait(point.event);
            if (point.is_awaited) --awaited_;
            return status;
          },
          [context] {
            driver().cuCtxSetCurrent(context);
            ::prctl(PR_SET_TIMERSLACK, 1UL);  // nanoseconds: a nap of 10 us would else take 60
          }) {}

// What is short is waited for in a loop, as waking a thread takes longer (and its core 50 us, on virtual machines), and
// so is what a thread waits for, as long as that is worth while and cores are to spare; else it is looked at after naps
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

}  // namespace burn::backends::cuda
