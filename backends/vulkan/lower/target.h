// A Vulkan device as the compiler sees it.
#pragma once

#include "backends/vulkan/device/device.h"
#include "compile/codegen/target.h"
#include "compile/lower/program_emitter.h"

namespace burn::backends::vulkan {

// The device outlives it.
class VulkanTarget final : public compile::Target {
 public:
  explicit VulkanTarget(Device& device) : device_(device) {}

  const compile::DeviceFacts& facts() const override { return device_.facts(); }
  compile::GroupMemo& groups() override { return device_.groups(); }
  Status lower_group(compile::Emitter& emit, const ir::Program& program, const compile::Group& group,
                     std::span<const ir::Ref> results) override;
  Status lower(compile::Emitter& emit, const compile::NodeInPlan& at) override;
  Status lower_product(compile::Emitter& emit, const ir::Program& program,
                       const compile::ProductWithEpilogue& product) override;
  void lower_commit(compile::Emitter& emit, const compile::Address& before, std::span<const compile::Address> reports,
                    const compile::Address& to) override;
  void fill_constant(compile::Emitter& emit, const ir::Constant& constant, const compile::Address& to) override;
  void copy(compile::Emitter& emit, const compile::View& from, const compile::View& to) override;

 private:
  Device& device_;
};

// Whether a program may contain this op on these operand types; else UNIMPLEMENTED with the reason.
Status supports_op(const Adapter& adapter, const ir::Op& op, std::span<const ir::TensorType* const> operands);

}  // namespace burn::backends::vulkan
