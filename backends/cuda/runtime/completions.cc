#include "backends/cuda/runtime/completions.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include <sys/prctl.h>

#include "base/machine.h"

namespace burn::backends::cuda {
namespace {

// Pauses for about a microsecond: each poll takes the driver's lock, which the enqueueing thread needs, too.
void pause_between_polls() {
  for (int i = 0; i < 16; ++i) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
  }
}

// A permit to keep one core busy; all streams together have as many as there are spare cores.
class SpareCore {
 public:
  SpareCore() = default;
  SpareCore(const SpareCore&) = delete;
  SpareCore& operator=(const SpareCore&) = delete;
  ~SpareCore() {
    if (is_taken_) --taken_;
  }

  // False: no core is spare.
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
            ::prctl(PR_SET_TIMERSLACK, 1UL);  // nanoseconds: otherwise a sleep of 10 us takes 60 us
          }) {}

// Polls in a loop for short work, as waking a thread takes longer (and its core 50 us, on virtual machines), and also
// for a longer time if a thread is waiting and cores are spare; then polls after sleeps of a 256th of the time waited
// so far. Never uses the driver's blocking wait: it takes some 50 us to wake up, too, and once it is used, every event
// that it could wait for raises an interrupt, which the driver's interrupt thread handles.
Status Completions::wait(const Result<Event>& event) const {
  using std::chrono::microseconds;
  constexpr microseconds kSpin(200), kSpinIfAwaited(5000), kShortestNap(10), kLongestNap(1000);
  BURN_RETURN_IF_ERROR(event.status());
  const auto start = std::chrono::steady_clock::now();
  SpareCore core;
  while (true) {
    const auto result = driver().cuEventQuery(event->get());
    if (result != CUDA_ERROR_NOT_READY) return check(result, "what the device was to do");
    const auto waited = std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now() - start);
    if (waited <= kSpin) {
      pause_between_polls();
    } else if (waited <= kSpinIfAwaited && awaited_ > 0 && core.take()) {
      pause_between_polls();
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::clamp(waited / 256, kShortestNap, kLongestNap));
    }
  }
}

}  // namespace burn::backends::cuda
