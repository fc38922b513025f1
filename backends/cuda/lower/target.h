// The compiler's target for a GPU.
#pragma once

#include "backends/cuda/device/device.h"
#include "backends/cuda/driver/compile_names.h"

namespace burn::backends::cuda {

// The device must outlive it.
class CudaTarget final : public compile::Target {
 public:
  explicit CudaTarget(Device& device) : device_(device), facts_{device.multiprocessors(), device.shared_bytes()} {
    facts_.has_functions = true;
  }

  Device& device() { return device_; }

  const compile::DeviceFacts& facts() const override { return facts_; }
  compile::GroupMemo& groups() override { return device_.groups(); }
  Status lower_group(Emitter& emit, const ir::Program& program, const compile::Group& group,
                     std::span<const ir::Ref> results) override;
  Status lower(Emitter& emit, const NodeInPlan& at) override;
  Status lower_together(Emitter& emit, std::span<const NodeInPlan> nodes) override;
  Status lower_product(Emitter& emit, const ir::Program& program, const compile::Plan& plan,
                       const ProductWithEpilogue& product, std::span<const ir::Ref> results) override;
  void lower_commit(Emitter& emit, const Address& before, std::span<const Address> reports, const Address& to) override;
  void fill_constant(Emitter& emit, const ir::Constant& constant, const Address& to) override;
  void copy(Emitter& emit, const View& from, const View& to) override;
  // Returns the first one if nothing is timed, as there is no GPU or BURN_AUTOTUNE is off.
  std::size_t fastest(const std::string& key, std::span<const View> operands, std::span<const View> results,
                      std::span<const compile::Alternative> alternatives) override;

 private:
  Device& device_;
  compile::DeviceFacts facts_;
};

// The device that an emitter of this backend emits for.
inline Device& device_of(Emitter& emit) { return static_cast<CudaTarget&>(emit.target()).device(); }

// Expects a simplified program. Errors: UNIMPLEMENTED, naming the op and its call site.
Result<Lowered> lower_program(Device& device, const ir::Program& program, const Plan& plan);

}  // namespace burn::backends::cuda
