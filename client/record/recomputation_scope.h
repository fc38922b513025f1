// Recording the same nodes a second time on purpose, for gradient checkpointing (autodiff/checkpoints.h).
#pragma once

namespace burn::client {

// From its construction to the end of the block, nodes that this thread records are marked as recomputed: no device
// merges them with their originals (docs/adr/016).
class RecomputationScope {
 public:
  RecomputationScope() : outer_(active_) { active_ = true; }
  ~RecomputationScope() { active_ = outer_; }
  RecomputationScope(const RecomputationScope&) = delete;
  RecomputationScope& operator=(const RecomputationScope&) = delete;

  static bool is_active() { return active_; }

 private:
  static inline constinit thread_local bool active_ = false;
  const bool outer_;
};

}  // namespace burn::client
