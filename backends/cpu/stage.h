// A step of a plan compiled for the CPU.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "backends/cpu/fused/fused_kernel.h"
#include "backends/cpu/fused/tile_codes.h"
#include "backends/cpu/kernels/collective_work.h"
#include "backends/cpu/runtime/run.h"
#include "compile/plan/plan.h"

namespace burn::backends::cpu {

// Holds the kernel of a node or of a group, or collectives.
struct Stage {
  Kernel kernel;
  std::optional<FusedKernel> fused;
  // A collective, or the collectives of a bucket, instead of a kernel; and the position of the first step that needs
  // their results.
  std::vector<CollectiveNode> collectives{};
  std::size_t collectives_end = 0;
  bool may_take_long = false;      // whether a run must be able to end without it: backends/detached_work.h
  std::size_t stages_in_pass = 1;  // how many stages, from this one on, run in one pass
  bool is_guarded = false;         // whether a Commit chooses between its results and the old values
  bool is_protected = false;       // from the first stage that a Commit guards to its last: the run must not end there
  // For a Commit: bytes that the stages that it guards allocate at least.
  bool is_commit = false;
  std::uint64_t guarded_bytes = 0;

  std::size_t memory_bytes() const;
};

// `codes`: those of the program.
// Errors: UNIMPLEMENTED, naming the op and its call site.
Result<Stage> prepare_stage(const ir::Program& program, const compile::Plan& plan, const compile::PlanStep& step,
                            TileCodes& codes);
Result<Kernel> prepare_node(const ir::Program& program, const ir::Node& node);

}  // namespace burn::backends::cpu
