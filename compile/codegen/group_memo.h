// The kernels that a device's groups were written as. The layers of a model have the same groups but for where their
// values lie, and so has the next program of a loop whose shapes change: printing a kernel takes a hundred times as
// long as finding it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "compile/codegen/group_plan.h"

namespace burn::compile {

// A launch as a group's printer emitted it, with the places of operands for their addresses.
struct GroupLaunch {
  std::variant<std::shared_ptr<const BlockKernel>, KernelSource> kernel;
  Grid grid;
  struct Slot {
    std::int32_t operand = -1;  // of the plan: its reads, then its writes; -1: `literal`
    Argument literal;
  };
  std::vector<Slot> arguments;
  std::vector<std::int32_t> written;  // operands
};

struct WrittenGroup {
  std::vector<GroupLaunch> launches;
  std::vector<std::pair<std::int32_t, std::int32_t>> in_place;  // operands: a read, a write
};

// Thread-safe. Holds a bounded number of groups.
class GroupMemo {
 public:
  // What tells the group's kernel and its other arguments; nothing for a group whose kernel depends on more: reports of
  // wrong indices name their node, and sums of columns take scratch memory.
  static std::optional<std::string> key(const GroupPlan& plan);

  std::shared_ptr<const WrittenGroup> find(const std::string& key) const;
  void keep(const std::string& key, std::shared_ptr<const WrittenGroup> written);

 private:
  static constexpr std::size_t kMost = 4096;

  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const WrittenGroup>> written_;
};

// Writes down what is emitted for a group, in terms of its operands, while it goes on to `emit`.
class GroupRecorder final : public Emitter {
 public:
  GroupRecorder(Emitter& emit, const GroupPlan& plan) : emit_(emit), plan_(plan) {}

  // Null: something was emitted that says more than operands.
  std::shared_ptr<const WrittenGroup> take();

  Target& target() override { return emit_.target(); }
  const ir::TensorType& type_of(ir::Ref ref) const override { return emit_.type_of(ref); }
  View read(ir::Ref operand) override { return emit_.read(operand); }
  const ir::Constant* constant(ir::Ref operand) override { return emit_.constant(operand); }
  View result(ir::Ref value) override { return emit_.result(value); }
  Address scratch(std::size_t bytes) override;
  void launch(const KernelSource& source, const Grid& grid, std::vector<Argument> arguments) override;
  void launch(std::shared_ptr<const BlockKernel> kernel, std::int64_t blocks, std::vector<Argument> arguments,
              std::vector<Address> written) override;
  void call(LibraryCall call) override;
  void fill_zero(const Address& where, std::size_t bytes) override;
  Address report_index(std::int64_t size, std::int32_t node) override;
  Address report(std::function<Status(std::int64_t)> explain) override;
  void allow_in_place(const View& operand, ir::Ref result) override;
  bool allows_tf32() const override { return emit_.allows_tf32(); }

 private:
  std::int32_t operand_at(const Address& address);
  std::vector<GroupLaunch::Slot> slots(const std::vector<Argument>& arguments);

  Emitter& emit_;
  const GroupPlan& plan_;
  WrittenGroup written_;
  bool says_more_ = false;
};

// Emits what was written for a group of the same key.
void emit_again(Emitter& emit, const GroupPlan& plan, const WrittenGroup& written);

}  // namespace burn::compile
