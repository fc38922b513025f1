// A device whose kernels are all made of the kernel language.
#pragma once

#include "compile/codegen/group_memo.h"
#include "compile/codegen/target.h"

namespace burn::compile::kernels {

class KernelTarget : public Target {
 public:
  KernelTarget(const DeviceFacts& facts, GroupMemo& groups) : facts_(facts), groups_(groups) {}

  const DeviceFacts& facts() const override { return facts_; }
  GroupMemo& groups() override { return groups_; }
  Status lower_group(Emitter& emit, const ir::Program& program, const Group& group,
                     std::span<const ir::Ref> results) override;
  Status lower(Emitter& emit, const NodeInPlan& at) override;
  // Requires: products with groups (PlanOptions::product_group_bytes).
  Status lower_product(Emitter& emit, const ir::Program& program, const Plan& plan, const ProductWithEpilogue& product,
                       std::span<const ir::Ref> results) override;
  void lower_commit(Emitter& emit, const Address& before, std::span<const Address> reports, const Address& to) override;
  void fill_constant(Emitter& emit, const ir::Constant& constant, const Address& to) override;
  void copy(Emitter& emit, const View& from, const View& to) override;

 private:
  const DeviceFacts& facts_;
  GroupMemo& groups_;
};

}  // namespace burn::compile::kernels
