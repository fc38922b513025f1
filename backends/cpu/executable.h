// A program made ready for the CPU: one kernel per step of its plan, run one after the other.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backends/cpu/fused/fused_kernel.h"
#include "backends/cpu/memory.h"
#include "backends/cpu/run.h"
#include "backends/plan/plan.h"

namespace burn::backends::cpu {

class CpuExecutable final : public Executable {
 public:
  // Errors: UNIMPLEMENTED, naming the op and its call site.
  static Result<std::unique_ptr<CpuExecutable>> make(std::shared_ptr<const ir::Program> program,
                                                     std::shared_ptr<Pool> pool);

  Result<std::vector<BufferPtr>> run(RunArgs args) override;

 private:
  // A step made ready: a kernel of one node, or of a group.
  struct Stage {
    Kernel kernel;
    std::optional<FusedKernel> fused;
    std::size_t together = 1;  // how many stages from this one on run in one pass
  };

  CpuExecutable(const ir::Program& program, std::shared_ptr<Pool> pool);

  Result<Stage> prepare(const Step& step) const;
  void find_neighbours();
  Status check(const RunArgs& args) const;
  Result<std::vector<BufferPtr>> run_checked(RunArgs& args) const;

  const PlanOptions options_ = PlanOptions::from_environment();
  const ir::Program program_;  // simplified
  const std::shared_ptr<Pool> pool_;
  const Plan plan_;
  std::vector<Stage> stages_;  // by position in plan_.steps
};

}  // namespace burn::backends::cpu
