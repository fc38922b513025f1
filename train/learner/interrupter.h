// Asks a training to stop after the step under way: from another thread, a metric, or the keyboard.
#pragma once

#include <memory>
#include <string>

namespace burn::train {

// A handle; copies are the same interrupter. Thread-safe.
class Interrupter {
 public:
  Interrupter();

  // Answers Ctrl-C (SIGINT) and SIGTERM, which systems that run jobs send before they end one: the first one stops the
  // training, which writes a checkpoint (unless it was told to write none) and can be resumed from it, also where no
  // epoch is over; a second one of the same kind ends the process. For the whole process, from now on; there is one.
  static Interrupter on_ctrl_c();

  // `with_checkpoint` false: what was trained since the last checkpoint is not kept.
  void stop(const std::string& reason, bool with_checkpoint = true) const;
  void reset() const;
  bool should_stop() const;
  bool wants_checkpoint() const;  // of the moment at which the training stops
  std::string reason() const;     // empty unless stopped

 private:
  struct State;
  explicit Interrupter(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace burn::train
