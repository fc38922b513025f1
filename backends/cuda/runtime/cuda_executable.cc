#include "backends/cuda/runtime/cuda_executable.h"

#include <fmt/format.h>

#include "backends/cuda/lower/target.h"
#include "backends/run_args.h"
#include "base/settings.h"

namespace burn::backends::cuda {
namespace {

PlanOptions plan_options() {
  auto options = PlanOptions::from_environment();
  options.limits.max_row_size = 1 << 18;
  options.limits.min_summed_rows = 512;
  options.limits.takes_sources = true;
  options.epilogues = true;
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
  return made;
}

Status CudaExecutable::check_args(const RunArgs& args) const {
  return backends::check_args(program(), args, "cuda",
                              [](const Buffer& buffer) { return dynamic_cast<const CudaBuffer*>(&buffer) != nullptr; });
}

}  // namespace burn::backends::cuda
