// What the lowering of a program's steps is written in: the views of values that a step reads and writes, and the
// commands, kernels and checks that it adds to the program.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compile/codegen/emitter.h"
#include "compile/lower/lowered.h"
#include "compile/lower/output_buffers.h"
#include "compile/lower/value_storage.h"
#include "compile/lower/virtual_iota.h"
#include "compile/plan/plan.h"

namespace burn::compile {

class StepEmitter final : public Emitter {
 public:
  // All of them outlive it; `lowered` gets the commands.
  StepEmitter(Target& target, const ir::Program& program, const Plan& plan, Lowered& lowered);

  // What follows is of this step, and of this node (for a group, its first).
  void begin_step(std::int32_t step);
  void begin_node(std::int32_t node) { step_.node = node; }
  std::int32_t step() const { return step_.number; }

  ValueStorage& values() { return values_; }
  Timeline& timeline() { return timeline_; }
  const CountedIotas& iotas() const { return iotas_; }
  // An address that the step reads, or writes, beside those of values.
  Address to_read(const Address& address) { return step_.uses.to_read(address); }
  Address to_write(const Address& address) { return step_.uses.to_write(address); }

  Target& target() override { return target_; }
  const ir::TensorType& type_of(ir::Ref ref) const override { return program_.type_of(ref); }
  const ir::Constant* constant(ir::Ref ref) override;
  std::optional<View> counted(ir::Ref ref) override;
  View read(ir::Ref ref) override;
  View result(ir::Ref value) override;
  std::optional<View> place(ir::Ref value) override;
  void set_in_place(ir::Ref value) override { values_.set_in_place(value); }
  bool is_in_place(ir::Ref ref) override { return values_.is_in_place(ref); }
  bool lie_where(ir::Ref operand, ir::Ref result) override { return values_.lie_where(operand, result); }
  Address scratch(std::size_t bytes) override;
  void launch(const KernelSource& source, const Grid& grid, std::vector<Argument> arguments) override;
  void launch(std::shared_ptr<const BlockKernel> kernel, std::int64_t blocks, std::vector<Argument> arguments,
              std::vector<Address> written) override;
  void call(LibraryCall call) override;
  void fill_zero(const Address& where, std::size_t bytes) override;
  Address report_index(std::int64_t size, std::int32_t node) override;
  Address report(std::function<Status(std::int64_t)> explain) override;
  void allow_in_place(const View& operand, ir::Ref result) override;
  bool allows_tf32() const override { return plan_.tf32; }

 private:
  View input(ir::Ref ref, const ValueView& view, const ir::TensorType& type);
  Address storage(ir::Ref value);
  bool is_part() const;
  std::size_t number_of(const KernelSource& source);
  Address add_check(std::int32_t node, std::function<Status(std::int64_t)> explain);

  Target& target_;
  const ir::Program& program_;
  const Plan& plan_;
  Lowered& lowered_;
  CurrentStep step_;
  ValueStorage values_;
  const CountedIotas iotas_;
  Timeline timeline_;
  std::unordered_map<std::string, std::size_t> source_of_;
  std::unordered_map<std::shared_ptr<const BlockKernel>, std::size_t> number_of_kernel_;
};

}  // namespace burn::compile
