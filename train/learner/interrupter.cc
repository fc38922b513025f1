#include "train/learner/interrupter.h"

#include <atomic>
#include <mutex>

#include <signal.h>
#include <unistd.h>

namespace burn::train {

struct Interrupter::State {
  std::atomic<bool> stopped{false};
  std::mutex mutex;
  std::string reason;
  bool is_ctrl_c = false;
};

namespace {

// A signal handler may touch nothing else.
std::atomic<bool> ctrl_c_pressed{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int) {
  ctrl_c_pressed.store(true, std::memory_order_relaxed);
  constexpr char kText[] = "\ninterrupted: finishing this step and saving; press Ctrl-C again to end at once\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kText, sizeof(kText) - 1);
}

void install() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);  // the second one does what it did before: it ends us
  sigaction(SIGINT, &action, nullptr);
}

}  // namespace

Interrupter::Interrupter() : state_(std::make_shared<State>()) {}

Interrupter Interrupter::on_ctrl_c() {
  static const auto state = [] {
    auto made = std::make_shared<State>();
    made->is_ctrl_c = true;
    return made;
  }();
  ctrl_c_pressed = false;
  install();
  return Interrupter{state};
}

void Interrupter::stop(const std::string& reason) const {
  const std::lock_guard lock(state_->mutex);
  state_->reason = reason;
  state_->stopped = true;
}

void Interrupter::reset() const {
  const std::lock_guard lock(state_->mutex);
  state_->reason.clear();
  state_->stopped = false;
  if (!state_->is_ctrl_c) return;
  ctrl_c_pressed = false;
  install();
}

bool Interrupter::should_stop() const { return state_->stopped || (state_->is_ctrl_c && ctrl_c_pressed); }

std::string Interrupter::reason() const {
  const std::lock_guard lock(state_->mutex);
  if (!state_->reason.empty()) return state_->reason;
  return state_->is_ctrl_c && ctrl_c_pressed ? "Ctrl-C" : "";
}

}  // namespace burn::train
