// One client's session on a fleet, as a pure state machine that translates the client's calls into calls for the
// members. It has no threads, clocks or connections: router/fleet_performer.cc passes it the calls in order and sends
// its output.
//
// A session starts on one member, its home, to which its calls are passed unchanged. The first value that is marked as
// a batch makes the session wide (widen()): from then on every member has every value, either the whole or its part of
// it, and runs its own rewriting of each program (compile/partition). A value has the same id at the client and on
// every member.
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
  int home = 0;                 // the member on which a session without marks runs
  std::vector<double> weights;  // of the members, for the sizes of their parts of batches; empty: equal
  std::uint64_t max_tensors = 1 << 20;
  std::uint64_t max_programs = 1 << 16;
  std::uint64_t max_entries = 1 << 22;  // ir::num_entries of all programs
  ChargePrograms charge = {};           // charges the memory of programs in the router
  // Called with a description of each program that is rewritten. Empty: not called.
  std::function<void(const std::string&)> trace = {};
};

// How to read a value.
struct ReadPlan {
  Failure poisoned;          // if set, the value cannot be read, for this reason
  std::vector<int> members;  // whose parts form the value (joined() in parts.h); a single one has all of it
  ir::TensorType type;       // of the whole value, if there are several parts
  MeshLayout layout;
};

// A call that is refused returns the reason (null: not refused), changes nothing on the members, and poisons its
// results with the same reason.
class SessionCore {
 public:
  explicit SessionCore(CoreOptions options);

  bool is_wide() const { return is_wide_; }
  // True if the call needs the session to be wide, because its program marks a batch.
  bool is_marked(const proto::Run& run);
  // Makes the session wide: copies every tensor from home to all other members, by runs that use collectives. The
  // members must form their group (ir/ops/collectives.h) before these are executed. Requires: not wide.
  Status widen(Outbox& out);

  // Defines a program; define_refused(): one that could not be read.
  Failure define(proto::ProgramId id, std::shared_ptr<const ir::Program> program,
                 std::span<const proto::ProgramId> forget, Outbox& out);
  void define_refused(proto::ProgramId id, std::size_t output_count, const Status& why,
                      std::span<const proto::ProgramId> forget, Outbox& out);
  Failure run(const proto::Run& run, Outbox& out);
  // `batch_axis`: in a wide session, the dim along which the tensor is split among the members along "data";
  // std::nullopt: every member gets the whole tensor.
  Failure write(proto::TensorId id, proto::HostTensor tensor, std::optional<std::int32_t> batch_axis, Outbox& out);
  // Poisons a value whose upload failed.
  Failure write_failed(proto::TensorId id, const Status& why);
  Failure release(std::span<const proto::TensorId> ids, Outbox& out);
  ReadPlan read(proto::TensorId id);
  // The outputs of a run, already sent, that every member has as a whole.
  std::vector<proto::TensorId> replicas(const proto::Run& run);

  const ProgramNames& names() const { return programs_.names(); }
  int members() const { return options_.mesh.members(); }
  const MeshLayout& layout_of(proto::TensorId id);  // whole if the tensor is not known
  std::uint64_t variants_made() const { return variants_made_; }

 private:
  template <typename Each>
  void for_each_member(const Each& each) const;
  compile::partition::Bounds bounds_of(std::int64_t size) const;
  Failure refuse_run(const proto::Run& run, const RoutedProgram* program, const Status& why, Outbox& out);
  // The variant for the layouts of these inputs; made, and defined on the members, if it does not exist yet.
  Result<Variant*> variant_of(proto::ProgramId id, RoutedProgram& program, std::span<const proto::TensorId> inputs,
                              Outbox& out);
  Status replicate(proto::TensorId id, const ir::TensorType& type, Outbox& out);
  void drop_names(std::vector<proto::ProgramId> names) {
    forgotten_.insert(forgotten_.end(), names.begin(), names.end());
  }

  const CoreOptions options_;
  bool is_wide_ = false;
  Layouts layouts_;
  Tensors tensors_;
  RoutedPrograms programs_;
  std::vector<proto::ProgramId> forgotten_;  // members' program ids to be forgotten with the next definition
  std::uint64_t variants_made_ = 0;
  std::vector<LayoutId> input_layouts_;  // layouts of the current run's inputs
};

}  // namespace burn::router
