// Times alternatives on the GPU.
#include "compile/codegen/alternatives.h"

#include "backends/cuda/device/enqueue.h"
#include "backends/cuda/driver/trial.h"
#include "backends/cuda/lower/target.h"
#include "compile/lower/trial_emitter.h"

namespace burn::backends::cuda {
namespace {

// Times one alternative. The trial's blocks are the operands, the results and the scratch memory.
Result<double> seconds(Device& device, const compile::TrialEmitter& what, const Trial& trial, std::size_t operand_count,
                       std::size_t result_count) {
  BURN_TRY(const auto kernels, device.kernels(what.sources()));
  Bindings at;
  at.inputs = trial.blocks().first(operand_count);
  at.outputs = trial.blocks().subspan(operand_count, result_count);
  at.blocks = what.scratch_offsets();
  at.arena = trial[operand_count + result_count];
  return trial.seconds([&](CUstream stream) { return enqueue(what.commands(), kernels, at, stream); });
}

}  // namespace

std::size_t CudaTarget::fastest(const std::string& key, std::span<const View> operands, std::span<const View> results,
                                std::span<const compile::Alternative> alternatives) {
  auto* const choices = device_.choices();
  if (!choices) return 0;
  const compile::TrialViews views(operands, results);
  std::vector<std::string_view> names;
  for (const auto& alternative : alternatives) names.push_back(alternative.name);
  return static_cast<std::size_t>(choices->choose_timed(key, names, [&](int i) -> Result<double> {
    CudaTarget target(device_);
    compile::TrialEmitter written(target);
    BURN_RETURN_IF_ERROR(alternatives[static_cast<std::size_t>(i)].emit(written, views.operands, views.results));
    auto sizes = views.sizes;
    sizes.push_back(written.scratch_bytes());
    const Trial trial(sizes);
    return seconds(device_, written, trial, operands.size(), results.size());
  }));
}

}  // namespace burn::backends::cuda
