// A program compiled for one Vulkan device: dispatches in levels, and the table of their arguments.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "backends/gpu/device_program.h"
#include "backends/vulkan/device/device.h"
#include "backends/vulkan/lower/target.h"
#include "backends/vulkan/runtime/dispatches.h"

namespace burn::backends::vulkan {

// The layout of the table that a run's kernels read: records of arguments, the words of the bindings, and the reports
// of checks that Commits read. The host writes it for each run.
struct TableLayout {
  std::size_t bindings = 0, failures = 0, bytes = 0;  // offsets of the sections; total size
};

// Dispatches that the device executes without the host, and the collective that the host performs after them;
// std::nullopt in the last part.
struct ProgramPart {
  Levels levels;
  std::optional<HostCollective> collective;
};

class VulkanExecutable final : public DeviceProgram {
 public:
  // Errors: UNIMPLEMENTED, naming the op and its call site; what the driver says of a kernel.
  static Result<std::unique_ptr<VulkanExecutable>> make(const ir::Program& program, std::shared_ptr<Device> device);

  // One more than there are collectives.
  const std::vector<ProgramPart>& parts() const { return parts_; }
  std::size_t dispatches() const;  // of all parts
  // A description of a step of the plan for users. Empty unless times are taken (KernelTimes::are_wanted).
  std::string name_of_step(std::int32_t step) const;
  bool does_nothing() const { return parts_.size() == 1 && parts_[0].levels.empty(); }
  const TableLayout& table() const { return table_; }
  // Writes the arguments, with addresses resolved by `bindings`, to `table`, which has table().bindings bytes.
  void write_arguments(const compile::Bindings& bindings, std::byte* table) const { arguments_.write(bindings, table); }
  // The SystemKernel::copy_words dispatch that copies what the checks found; its `to` is set by each run. Null: there
  // are no checks, or no Commit reads them and they report directly to host memory.
  const Dispatch* report_copy() const { return report_copy_ ? &*report_copy_ : nullptr; }
  VkPipeline system_kernel(SystemKernel which) const { return arguments_.system_kernel(which); }

  // Checks the arguments as Stream::run() requires.
  Status check_args(const RunArgs& args) const;
  // Errors: UNIMPLEMENTED if a step that is not left out needs a grid above the device's limits.
  Status check_grids(const std::vector<bool>& left_out) const;

 private:
  VulkanExecutable(const ir::Program& program, std::shared_ptr<Device> device);
  // Errors: UNIMPLEMENTED for a value of a type that the device lacks.
  Status check_types() const;
  Status lay_out();

  const std::shared_ptr<Device> device_;
  DispatchTable arguments_;
  std::vector<ProgramPart> parts_;
  std::optional<Dispatch> report_copy_;
  TableLayout table_;
  std::vector<std::string> names_;  // of steps
};

}  // namespace burn::backends::vulkan
