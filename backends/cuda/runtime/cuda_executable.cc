#include "backends/cuda/runtime/cuda_executable.h"

#include <fmt/format.h>

#include "backends/cuda/lower/group_call.h"
#include "backends/cuda/lower/target.h"
#include "backends/cuda/runtime/bound_run.h"
#include "backends/gpu/outcome.h"
#include "backends/run_args.h"
#include "base/settings.h"

namespace burn::backends::cuda {
namespace {

PlanOptions plan_options() {
  auto options = PlanOptions::from_environment();
  options.limits.max_row_size = 1 << 18;
  options.limits.min_summed_rows = 512;
  options.limits.absorbs_producers = true;
  options.epilogues = true;
  options.buckets = !is_off(Setting::overlap);
  return options;
}

}  // namespace

CudaExecutable::CudaExecutable(const ir::Program& program, std::shared_ptr<Device> device)
    : DeviceProgram(program, plan_options()), device_(std::move(device)) {}

Result<std::unique_ptr<CudaExecutable>> CudaExecutable::make(const ir::Program& program,
                                                             std::shared_ptr<Device> device) {
  std::unique_ptr<CudaExecutable> made(new CudaExecutable(program, std::move(device)));
  const auto plan = compile::make_plan(made->program(), made->options());
  if (setting(Setting::trace).find("plan") != std::string::npos)
    fmt::print(stderr, "{}", to_string(plan, made->program()));
  BURN_TRY(auto lowered, cuda::lower_program(*made->device_, made->program(), plan));
  BURN_TRY(made->kernels_, made->device_->kernels(lowered.sources));
  lowered.sources.clear();
  made->set_lowered(std::move(lowered));
  made->find_lanes();
  return made;
}

// Finds the order of commands with fictitious addresses: each input has memory of its own, each output has its own or
// that of the input that it may be written over.
void CudaExecutable::find_lanes() {
  constexpr std::size_t kMax = 8192;  // commands: their order takes a bit per pair
  if (collectives().empty() || is_off(Setting::overlap) || lowered().commands.size() > kMax) return;
  RunMemory memory;
  CUdeviceptr next = 1 << 20;
  const auto place = [&](std::uint64_t bytes) {
    const auto here = next;
    next += (bytes + 511) / 512 * 512;
    return RunMemory::Operand{here, bytes};
  };
  memory.arena = place(lowered().arena.bytes).address;
  memory.failures = place(kReportBytes * lowered().checks.size()).address;
  for (const auto& input : program().inputs) memory.inputs.push_back(place(input.type.num_bytes()));
  for (std::size_t k = 0; k < program().outputs.size(); ++k) {
    const auto& source = lowered().outputs[k];
    if (source.shares_input >= 0)
      memory.outputs.emplace_back();
    else if (source.reuses_input >= 0)
      memory.outputs.push_back(memory.inputs[static_cast<std::size_t>(source.reuses_input)]);
    else
      memory.outputs.push_back(place(program().type_of(program().outputs[k]).num_bytes()));
  }
  lanes_.order = compile::order_commands(BoundRun(lowered(), memory).uses());
  for (const auto& command : lowered().commands) {
    const auto* call = std::get_if<LibraryCall>(&command.what);
    lanes_.is_on_side_stream.push_back(call && call->target<GroupCall>());
  }
}

Status CudaExecutable::check_args(const RunArgs& args) const {
  return backends::check_args(program(), args, "cuda",
                              [](const Buffer& buffer) { return dynamic_cast<const CudaBuffer*>(&buffer) != nullptr; });
}

}  // namespace burn::backends::cuda
