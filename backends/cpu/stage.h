// A step of a plan made ready for the CPU.
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

// A kernel of one node, or of a group; or collectives.
struct Stage {
  Kernel kernel;
  std::optional<FusedKernel> fused;
  // A collective or those of a bucket, instead of a kernel; and the position of the step before which their results
  // have to be there.
  std::vector<CollectiveNode> collectives{};
  std::size_t collectives_end = 0;
  bool may_take_long = false;  // so long that a run must be able to end without it: backends/detached_work.h
  std::size_t together = 1;    // how many stages from this one on run in one pass
  bool guards = false;         // whether a Commit chooses between what it computes and what was there
  bool is_protected = false;   // from the first stage that a Commit guards to its last: the run is not to end there
  // Of a Commit: what the stages that it guards have to allocate at least.
  bool is_commit = false;
  std::uint64_t guarded_bytes = 0;

  std::size_t memory_bytes() const;
};

// `codes`: of the program.
// Errors: UNIMPLEMENTED, naming the op and its call site.
Result<Stage> prepare_stage(const ir::Program& program, const compile::Plan& plan, const compile::PlanStep& step,
                            TileCodes& codes);
Result<Kernel> prepare_node(const ir::Program& program, const ir::Node& node);

}  // namespace burn::backends::cpu
