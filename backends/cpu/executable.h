// A program made ready for the CPU: one kernel per live node, run one after the other.
#pragma once

#include <memory>
#include <vector>

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
  CpuExecutable(std::shared_ptr<const ir::Program> program, std::shared_ptr<Pool> pool)
      : program_(std::move(program)), pool_(std::move(pool)), plan_(make_plan(*program_)) {}

  Status check(const RunArgs& args) const;
  Result<std::vector<BufferPtr>> run_checked(RunArgs& args) const;

  std::shared_ptr<const ir::Program> program_;
  std::shared_ptr<Pool> pool_;
  Plan plan_;
  std::vector<Kernel> kernels_;  // by position in plan_.order
};

}  // namespace burn::backends::cpu
