// A program made ready for one Vulkan device: dispatches in levels, and the table of their arguments.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "backends/gpu/device_program.h"
#include "backends/vulkan/device/device.h"
#include "backends/vulkan/lower/system_kernels.h"
#include "backends/vulkan/lower/target.h"

namespace burn::backends::vulkan {

// A kernel, how many blocks of it, and where in the table its arguments lie.
struct Dispatch {
  VkPipeline pipeline = VK_NULL_HANDLE;
  std::uint32_t blocks[3] = {1, 1, 1};
  std::size_t arguments = 0;  // bytes from the table's begin
  std::int32_t step = 0;      // of the plan
};

// What a run's kernels read of it, in one piece of memory: records of arguments, the words of the bindings, the reports
// of checks. The host writes it anew for each run.
struct TableLayout {
  std::size_t bindings = 0, failures = 0, bytes = 0;  // where they begin; all of it
};

// Dispatches of one level need not wait for each other; those of the next level wait for all of it.
using Levels = std::vector<std::vector<Dispatch>>;

// What the device does without the host, and the collective that the host performs then; without a value: none, it is
// the last part.
struct ProgramPart {
  Levels levels;
  std::optional<HostCollective> collective;
};

class VulkanExecutable final : public DeviceProgram {
 public:
  // Errors: UNIMPLEMENTED, naming the op and its call site; what the driver says of a kernel.
  static Result<std::unique_ptr<VulkanExecutable>> make(const ir::Program& program, std::shared_ptr<Device> device);

  // As many as there are collectives, and one.
  const std::vector<ProgramPart>& parts() const { return parts_; }
  std::size_t dispatches() const;  // of all parts
  // What a step of the plan computes, for people. Empty but where times are taken (KernelTimes::are_wanted).
  std::string name_of_step(std::int32_t step) const;
  bool does_nothing() const { return parts_.size() == 1 && parts_[0].levels.empty(); }
  const TableLayout& table() const { return table_; }
  // The arguments with addresses where `bindings` has them, at `table`, which is as long as table().bindings.
  void write_arguments(const compile::Bindings& bindings, std::byte* table) const;
  // Copies what checks found: the record of a SystemKernel::copy_words, whose `to` is the run's. Null: no checks.
  const Dispatch* report_copy() const { return report_copy_ ? &*report_copy_ : nullptr; }
  VkPipeline system_kernel(SystemKernel which) const { return system_[static_cast<std::size_t>(which)]; }

  // As Stream::run() wants them.
  Status check_args(const RunArgs& args) const;
  // Errors: UNIMPLEMENTED where a step that is not left out wants a grid above the device's limits.
  Status check_grids(const std::vector<bool>& left_out) const;

 private:
  VulkanExecutable(const ir::Program& program, std::shared_ptr<Device> device);
  // Errors: UNIMPLEMENTED for a value of a type that the device lacks.
  Status check_types() const;
  Status lay_out();
  Result<Dispatch> dispatch_of(const compile::Command& command, std::span<const VkPipeline> kernels);
  // Room for a record of so many bytes in the table.
  std::size_t add_record(std::span<const std::byte> bytes);
  void set_blocks(Dispatch& dispatch, std::int64_t blocks, std::int64_t blocks_y);

  const std::shared_ptr<Device> device_;
  std::vector<VkPipeline> system_;
  std::vector<ProgramPart> parts_;
  std::vector<std::byte> records_;
  std::vector<std::pair<std::size_t, compile::Address>> addresses_;  // where in `records_` each belongs
  std::optional<Dispatch> report_copy_;
  TableLayout table_;
  std::vector<std::string> names_;                          // of steps
  std::vector<std::pair<std::int32_t, Status>> too_large_;  // steps whose grids the device does not take
};

}  // namespace burn::backends::vulkan
