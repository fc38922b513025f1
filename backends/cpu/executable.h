// A program made ready for the CPU: one kernel per step of its plan, run one after the other.
#pragma once

#include <memory>
#include <vector>

#include "backends/cpu/execution.h"
#include "backends/cpu/memory.h"
#include "backends/cpu/stage.h"
#include "backends/interrupt.h"

namespace burn::backends::cpu {

class CpuExecutable final : public Executable {
 public:
  // Errors: UNIMPLEMENTED, naming the op and its call site.
  static Result<std::unique_ptr<CpuExecutable>> make(std::shared_ptr<const ir::Program> program,
                                                     std::shared_ptr<Pool> pool);

  // As Stream::run(), which is done when it returns. Errors besides: why it was interrupted.
  Result<RunResult> run(RunArgs args, const Interrupt& interrupt, const RunLife& life) const;
  std::size_t memory_bytes() const override;

 private:
  CpuExecutable(const ir::Program& program, std::shared_ptr<Pool> pool);

  void find_neighbours();
  void find_guarded();

  const PlanOptions options_;
  const ir::Program program_;  // simplified
  const std::shared_ptr<Pool> pool_;
  const Plan plan_;
  std::vector<Stage> stages_;  // by position in plan_.steps
};

}  // namespace burn::backends::cpu
