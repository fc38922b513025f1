// A program compiled for the CPU: one kernel per step of its plan, run one after the other.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/cpu/execution.h"
#include "backends/cpu/runtime/memory.h"
#include "backends/cpu/stage.h"
#include "backends/interrupt.h"

namespace burn::backends::cpu {

class CpuExecutable final : public Executable {
 public:
  // Errors: UNIMPLEMENTED, naming the op and its call site.
  static Result<std::unique_ptr<CpuExecutable>> make(std::shared_ptr<const ir::Program> program,
                                                     std::shared_ptr<Pool> pool);

  // As Stream::run(), but the results are computed when it returns. Errors besides: why it was interrupted.
  Result<RunResult> run(RunArgs args, const Interrupt& interrupt, const DetachedWorkContext& detached_context) const;
  std::size_t memory_bytes() const override;
  // Before the first successful run: planned_bytes(). Afterwards what that run used, including work space of kernels:
  // all runs use the same, as all shapes are known.
  RunBytes run_bytes() const override;

 private:
  CpuExecutable(std::shared_ptr<const ir::Program> program, std::shared_ptr<Pool> pool);

  void find_collective_ends();
  void join_adjacent_stages();
  void find_guarded();
  std::shared_ptr<RunMeter> meter_for(RunArgs& args) const;
  void record_measurement(const RunMeter& meter, const RunResult& result) const;

  const compile::PlanOptions options_;
  const std::shared_ptr<const ir::Program> given_, prepared_;  // the same if there was nothing to simplify
  const ir::Program& program_ = *prepared_;
  const std::shared_ptr<Pool> pool_;
  const compile::Plan plan_;
  const ValuePlaces places_;
  std::vector<Stage> stages_;  // by position in plan_.steps
  static constexpr std::uint64_t kNotMeasured = ~std::uint64_t{0};
  std::uint64_t planned_bytes_ = 0;
  mutable std::atomic<std::uint64_t> measured_bytes_ = kNotMeasured;
};

}  // namespace burn::backends::cpu
