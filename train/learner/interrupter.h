// Asks a training to stop after the current step: from another thread, a metric, or the keyboard.
#pragma once

#include <memory>
#include <string>

namespace burn::train {

// A handle; copies are the same interrupter. Thread-safe.
class Interrupter {
 public:
  Interrupter();

  // Handles Ctrl-C (SIGINT) and SIGTERM, which job schedulers send before they end a job. The first signal stops the
  // training, which writes a checkpoint (unless checkpoints are off) from which it can be resumed, even within the
  // first epoch; a second signal of the same kind ends the process. Applies to the whole process from this call on; all
  // calls return the same interrupter.
  static Interrupter on_ctrl_c();

  // `with_checkpoint` false: progress since the last checkpoint is lost.
  void stop(const std::string& reason, bool with_checkpoint = true) const;
  void reset() const;
  bool should_stop() const;
  bool wants_checkpoint() const;  // whether to write one when the training stops
  std::string reason() const;     // empty unless stopped

 private:
  struct State;
  explicit Interrupter(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace burn::train
