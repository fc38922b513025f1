// One client's session on a fleet, as a pure state machine: what its calls become for the members. It has no threads,
// clocks or connections; router/fleet_session.cc gives it the calls in their order and sends what it says.
//
// A session begins on one member, its home, which is told its calls as they are. The first value that is marked as a
// batch makes it wide (widen()): from then on every member has every value, whole or its part of it, and runs its own
// rewriting of each program (compile/partition). One id names a value at the client and on every member.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/failure.h"
#include "base/status.h"
#include "proto/session.h"
#include "router/core/outbox.h"
#include "router/core/programs.h"
#include "router/core/tensors.h"

namespace burn::router {

struct CoreOptions {
  Mesh mesh;
  int home = 0;                 // where a session without marks lives
  std::vector<double> weights;  // of the members, for their parts of batches; empty: equal ones
  std::uint64_t max_tensors = 1 << 20;
  std::uint64_t max_programs = 1 << 16;
  std::uint64_t max_entries = 1 << 22;  // ir::num_entries of all programs
  ChargePrograms charge = {};           // of what programs take here
  // Told of each program that is rewritten: what became of it. Empty: not wanted.
  std::function<void(const std::string&)> trace = {};
};

// Where a value is to be read.
struct ReadPlan {
  Failure poisoned;          // nowhere, for this reason
  std::vector<int> members;  // whose parts are its value (joined() in parts.h); one: it has all of it
  ir::TensorType type;       // of the whole, where there are several
  MeshLayout layout;
};

// What is refused says why (null: it is not), changes nothing at the members, and poisons what it would have made, for
// the same reason.
class SessionCore {
 public:
  explicit SessionCore(CoreOptions options);

  bool is_wide() const { return is_wide_; }
  // Whether the call needs the session to be wide: it is for or about a batch.
  bool is_marked(const proto::Run& run);
  // Requires: not wide. Every member gets what there is: a whole value each, by runs that copy it from home. Needs the
  // members' group (ir/ops/collectives.h) before any of it is executed.
  Status widen(Outbox& out);

  // A program that could be read, or why it was refused.
  Failure define(proto::ProgramId id, std::shared_ptr<const ir::Program> program,
                 std::span<const proto::ProgramId> forget, Outbox& out);
  void define_refused(proto::ProgramId id, std::size_t output_count, const Status& why,
                      std::span<const proto::ProgramId> forget, Outbox& out);
  Failure run(const proto::Run& run, Outbox& out);
  // `batch_axis`: the dim along which the members along "data" get their parts, where the session is wide; nothing: it
  // is whole on each.
  Failure write(proto::TensorId id, proto::HostTensor tensor, std::optional<std::int32_t> batch_axis, Outbox& out);
  // A value that did not come.
  Failure write_failed(proto::TensorId id, const Status& why);
  Failure release(std::span<const proto::TensorId> ids, Outbox& out);
  ReadPlan read(proto::TensorId id);
  // Of the outputs of a run that was sent, those that every member has.
  std::vector<proto::TensorId> replicas(const proto::Run& run);

  const ProgramNames& names() const { return programs_.names(); }
  int members() const { return options_.mesh.members(); }
  const MeshLayout& layout_of(proto::TensorId id);  // whole, of one that is not known
  std::uint64_t variants_made() const { return variants_made_; }

 private:
  template <typename Each>
  void for_each_member(const Each& each) const;
  compile::partition::Bounds bounds_of(std::int64_t size) const;
  Failure refuse_run(const proto::Run& run, const RoutedProgram* program, const Status& why, Outbox& out);
  // The variant for inputs that lie as these do: made, and defined at the members, where there is none.
  Result<Variant*> variant_of(proto::ProgramId id, RoutedProgram& program, std::span<const proto::TensorId> inputs,
                              Outbox& out);
  Status spread(proto::TensorId id, const ir::TensorType& type, Outbox& out);
  void drop_names(std::vector<proto::ProgramId> names) {
    forgotten_.insert(forgotten_.end(), names.begin(), names.end());
  }

  const CoreOptions options_;
  bool is_wide_ = false;
  Layouts layouts_;
  Tensors tensors_;
  RoutedPrograms programs_;
  std::vector<proto::ProgramId> forgotten_;  // members' names that the next definition tells them to forget
  std::uint64_t variants_made_ = 0;
  std::vector<LayoutId> lie_;  // of the inputs of the run that is looked at
};

}  // namespace burn::router
