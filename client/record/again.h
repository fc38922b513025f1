// Recording what was recorded before once more, on purpose: gradient checkpointing (autodiff/checkpoints.h).
#pragma once

namespace burn::client {

// From here to the end of the block, nodes that this thread records are marked as recomputed: no device merges them
// with their originals (docs/adr/016).
class RecordingAgain {
 public:
  RecordingAgain() : outer_(active_) { active_ = true; }
  ~RecordingAgain() { active_ = outer_; }
  RecordingAgain(const RecordingAgain&) = delete;
  RecordingAgain& operator=(const RecordingAgain&) = delete;

  static bool is_active() { return active_; }

 private:
  static inline constinit thread_local bool active_ = false;
  const bool outer_;
};

}  // namespace burn::client
