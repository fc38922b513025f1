#include "train/learner/interrupter.h"

#include <atomic>
#include <mutex>

#include <signal.h>
#include <unistd.h>

namespace burn::train {

struct Interrupter::State {
  std::atomic<bool> stopped{false}, with_checkpoint{true};
  std::mutex mutex;
  std::string reason;
  bool is_ctrl_c = false;
};

namespace {

// The signal received, or 0. The signal handler accesses nothing else.
std::atomic<int> signal_that_came{0};
static_assert(std::atomic<int>::is_always_lock_free);

void on_signal(int signal) {
  signal_that_came.store(signal, std::memory_order_relaxed);
  constexpr char kCtrlC[] = "\ninterrupted: finishing this step and saving; press Ctrl-C again to end at once\n";
  constexpr char kTerm[] = "\nterminated: finishing this step and saving; a second SIGTERM ends the process at once\n";
  [[maybe_unused]] const auto written = signal == SIGINT ? write(STDERR_FILENO, kCtrlC, sizeof(kCtrlC) - 1)
                                                         : write(STDERR_FILENO, kTerm, sizeof(kTerm) - 1);
}

void install() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);  // a second signal ends the process
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

Interrupter::Interrupter() : state_(std::make_shared<State>()) {}

Interrupter Interrupter::on_ctrl_c() {
  static const auto state = [] {
    auto made = std::make_shared<State>();
    made->is_ctrl_c = true;
    return made;
  }();
  signal_that_came = 0;
  install();
  return Interrupter{state};
}

void Interrupter::stop(const std::string& reason, bool with_checkpoint) const {
  const std::lock_guard lock(state_->mutex);
  state_->reason = reason;
  state_->with_checkpoint = with_checkpoint;
  state_->stopped = true;
}

void Interrupter::reset() const {
  const std::lock_guard lock(state_->mutex);
  state_->reason.clear();
  state_->stopped = false;
  state_->with_checkpoint = true;
  if (!state_->is_ctrl_c) return;
  signal_that_came = 0;
  install();
}

bool Interrupter::should_stop() const { return state_->stopped || (state_->is_ctrl_c && signal_that_came != 0); }

bool Interrupter::wants_checkpoint() const { return state_->with_checkpoint; }

std::string Interrupter::reason() const {
  const std::lock_guard lock(state_->mutex);
  if (!state_->reason.empty()) return state_->reason;
  if (!state_->is_ctrl_c || signal_that_came == 0) return "";
  return signal_that_came == SIGINT ? "Ctrl-C" : "SIGTERM";
}

}  // namespace burn::train
