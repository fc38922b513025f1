// Writes down what one alternative (codegen/alternatives.h) does, with operands and results of its own, so that it can
// be timed outside a program.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "compile/codegen/emitter.h"
#include "compile/lower/commands.h"

namespace burn::compile {

// Operands and results as an alternative under trial sees them: those of the op, each in a block of memory of its own.
struct TrialViews {
  TrialViews(std::span<const View> operands_of_op, std::span<const View> results_of_op);

  std::vector<std::size_t> sizes;  // bytes of the blocks, operands first; filled in as the others are made
  std::vector<View> operands, results;

 private:
  std::vector<View> moved(std::span<const View> views, Address::Base base);
};

class TrialEmitter final : public Emitter {
 public:
  explicit TrialEmitter(Target& target) : target_(target) {}

  Target& target() override { return target_; }
  Address scratch(std::size_t bytes) override;
  void launch(const KernelSource& source, const Grid& grid, std::vector<Argument> arguments) override;
  void launch(std::shared_ptr<const BlockKernel> kernel, std::int64_t blocks, std::vector<Argument> arguments,
              std::vector<Address> written) override;
  void call(LibraryCall call) override { commands_.push_back({std::move(call), 0}); }
  void fill_zero(const Address& where, std::size_t bytes) override { commands_.push_back({Fill{where, bytes}, 0}); }

  // Alternatives are given views, and nothing of the program.
  const ir::TensorType& type_of(ir::Ref) const override { return no_type_; }
  View read(ir::Ref) override { return {}; }
  const ir::Constant* constant(ir::Ref) override { return nullptr; }
  View result(ir::Ref) override { return {}; }
  Address report_index(std::int64_t, std::int32_t) override { return {}; }
  Address report(std::function<Status(std::int64_t)>) override { return {}; }
  void allow_in_place(const View&, ir::Ref) override {}
  bool allows_tf32() const override { return false; }  // what is tried has asked before

  const std::vector<Command>& commands() const { return commands_; }  // in order, each after the one before
  const std::vector<KernelSource>& sources() const { return sources_; }
  std::size_t scratch_bytes() const { return scratch_bytes_; }                   // one block for all scratch memory
  const std::vector<std::int64_t>& scratch_offsets() const { return offsets_; }  // in it, by Address::index

 private:
  Target& target_;
  std::vector<Command> commands_;
  std::vector<KernelSource> sources_;
  std::vector<std::int64_t> offsets_;
  std::size_t scratch_bytes_ = 0;
  const ir::TensorType no_type_;
};

}  // namespace burn::compile
