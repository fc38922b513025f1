#include "router/core/session_core.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "compile/partition/partition.h"
#include "router/core/parts.h"
#include "router/core/replication.h"
#include "router/core/run_check.h"

namespace burn::router {
namespace {

Failure failure_of(Status why) { return std::make_shared<const Status>(std::move(why)); }

}  // namespace

SessionCore::SessionCore(CoreOptions options)
    : options_(std::move(options)), programs_(options_.max_programs, options_.max_entries, options_.charge) {}

template <typename Each>
void SessionCore::for_each_member(const Each& each) const {
  if (!is_wide_) return each(options_.home);
  for (int member = 0; member < members(); ++member) each(member);
}

compile::partition::Bounds SessionCore::bounds_of(std::int64_t size) const {
  if (options_.weights.empty()) return compile::partition::balanced(size, options_.mesh.data);
  std::vector<double> rows(static_cast<std::size_t>(options_.mesh.data));  // members along "model" share a part
  for (int member = 0; member < members(); ++member)
    rows[static_cast<std::size_t>(options_.mesh.rank(ir::MeshAxis::data, member))] +=
        options_.weights[static_cast<std::size_t>(member)];
  return compile::partition::weighted(size, rows);
}

const MeshLayout& SessionCore::layout_of(proto::TensorId id) {
  const auto* tensor = tensors_.find(id);
  return layouts_[tensor ? tensor->layout : kWhole];
}

bool SessionCore::is_marked(const proto::Run& run) {
  const auto* routed = programs_.find(run.program);
  return routed && routed->is_marked;
}

// --- programs --------------------------------------------------------------------------------------------------------

Failure SessionCore::define(proto::ProgramId id, std::shared_ptr<const ir::Program> program,
                            std::span<const proto::ProgramId> forget, Outbox& out) {
  Status refused;
  if (id >= kFirstOwnProgram) {
    refused = invalid_argument(fmt::format("program {}: numbers from {} on are the router's", id, kFirstOwnProgram));
    program = nullptr;
  }
  const auto outputs = program ? program->outputs.size() : 0;
  const bool is_marked = program && std::ranges::any_of(program->nodes, [](const ir::Node& node) {
                           return std::holds_alternative<ir::Place>(node.op);
                         });
  drop_names(programs_.define(id, {program, std::move(refused), outputs, is_marked, {}}, forget));
  auto* routed = programs_.find(id);
  if (!routed) return failure_of(resource_exhausted(fmt::format("there is no room for program {}", id)));
  if (!routed->program) return failure_of(routed->refused.with_context(fmt::format("program {}", id)));
  if (is_wide_) return nullptr;
  // Home gets the program as the client defined it, and compiles it before its first run.
  Variant variant;
  variant.inputs.assign(program->inputs.size(), kWhole);
  variant.outputs.assign(program->outputs.size(), kWhole);
  if (const auto added = programs_.add_variant(id, *routed, std::move(variant)); !added.ok())
    return failure_of(added.status());
  out.send(options_.home, proto::DefineProgram{id, std::move(program), std::exchange(forgotten_, {})});
  return nullptr;
}

void SessionCore::define_refused(proto::ProgramId id, std::size_t output_count, const Status& why,
                                 std::span<const proto::ProgramId> forget, Outbox& /*out*/) {
  drop_names(programs_.define(id, {nullptr, why, output_count, false, {}}, forget));
}

Result<Variant*> SessionCore::variant_of(proto::ProgramId id, RoutedProgram& program,
                                         std::span<const proto::TensorId> inputs, Outbox& out) {
  input_layouts_.clear();
  for (const auto input : inputs) {
    const auto* tensor = tensors_.find(input);
    input_layouts_.push_back(tensor ? tensor->layout : kWhole);
  }
  auto& variants = program.variants;
  const auto found = std::ranges::find(variants, input_layouts_, &Variant::inputs);
  if (found != variants.end()) {
    std::rotate(variants.begin(), found, found + 1);
    return variants.data();
  }
  std::vector<MeshLayout> layouts;
  layouts.reserve(input_layouts_.size());
  for (const auto layout : input_layouts_) layouts.push_back(layouts_[layout]);
  BURN_TRY(auto made, compile::partition::partition(*program.program, layouts, options_.mesh));
  Variant variant{.inputs = input_layouts_, .outputs = {}};
  for (const auto& layout : made.outputs) variant.outputs.push_back(layouts_.id_of(layout));
  BURN_TRY(auto* const kept, programs_.add_variant(id, program, std::move(variant)));
  ++variants_made_;
  if (options_.trace) options_.trace(fmt::format("program {}: {}", id, compile::partition::to_string(made)));
  const auto forget = std::exchange(forgotten_, {});
  for (int member = 0; member < members(); ++member) {
    out.send(member, proto::DefineProgram{kept->id, std::move(made.members[static_cast<std::size_t>(member)]), forget});
  }
  return kept;
}

// --- runs ------------------------------------------------------------------------------------------------------------

// Poisons the outputs with the reason; donated inputs and tensors to be released are released all the same.
Failure SessionCore::refuse_run(const proto::Run& run, const RoutedProgram* routed, const Status& why, Outbox& out) {
  auto failure = failure_of(routed ? why.with_context(fmt::format("program {}", run.program)) : why);
  std::vector<proto::TensorId> gone = run.release;
  if (routed) {
    const auto room = std::numeric_limits<proto::TensorId>::max() - run.first_output;
    if (routed->output_count > 0)
      tensors_.poison(run.first_output, std::min<std::uint64_t>(routed->output_count - 1, room) + 1, failure);
    const auto given = routed->program ? std::min(run.inputs.size(), routed->program->inputs.size()) : 0;
    for (std::size_t i = 0; i < given; ++i) {
      if (routed->program->inputs[i].donated) gone.push_back(run.inputs[i]);
    }
  }
  std::erase_if(gone, [&](proto::TensorId id) { return !tensors_.drop(id); });
  if (!gone.empty()) for_each_member([&](int member) { out.send(member, proto::Release{gone}); });
  return failure;
}

Failure SessionCore::run(const proto::Run& run, Outbox& out) {
  auto* routed = programs_.find(run.program);
  if (!routed) {
    return refuse_run(run, nullptr, not_found(fmt::format("program {} is not known in this session", run.program)),
                      out);
  }
  const auto fits = check_run(run, *routed, tensors_, options_.max_tensors);
  if (!fits.ok()) return refuse_run(run, routed, fits, out);
  auto variant = variant_of(run.program, *routed, run.inputs, out);
  if (!variant.ok()) return refuse_run(run, routed, variant.status(), out);
  const auto& program = *routed->program;
  for (std::size_t i = 0; i < run.inputs.size(); ++i) {
    if (program.inputs[i].donated) tensors_.drop(run.inputs[i]);
  }
  proto::Run sent = run;
  sent.program = (*variant)->id;
  std::erase_if(sent.release, [&](proto::TensorId id) { return !tensors_.drop(id); });
  for (std::size_t k = 0; k < program.outputs.size(); ++k) {
    tensors_.add(run.first_output + k, program.type_of(program.outputs[k]), (*variant)->outputs[k]);
  }
  for_each_member([&](int member) { out.send(member, sent); });
  return nullptr;
}

// --- values ----------------------------------------------------------------------------------------------------------

Failure SessionCore::write_failed(proto::TensorId id, const Status& why) {
  auto failure = failure_of(why);
  if (!tensors_.is_known(id)) tensors_.poison(id, 1, failure);
  return failure;
}

Failure SessionCore::write(proto::TensorId id, proto::HostTensor tensor, std::optional<std::int32_t> batch_axis,
                           Outbox& out) {
  if (tensors_.is_known(id)) return write_failed(id, tensor_exists(id));
  if (tensors_.size() >= options_.max_tensors) return write_failed(id, too_many_tensors(options_.max_tensors));
  if (tensor.bytes.size() != tensor.type.num_bytes()) {
    return write_failed(
        id, invalid_argument(fmt::format("{} bytes for tensor {}: {}, which has {}", tensor.bytes.size(), id,
                                         ir::to_string(tensor.type), tensor.type.num_bytes())));
  }
  MeshLayout layout;
  if (batch_axis) {
    if (*batch_axis < 0 || *batch_axis >= tensor.type.shape.rank()) {
      return write_failed(id, invalid_argument(fmt::format("tensor {}: {} has no axis {} to be a batch's", id,
                                                           ir::to_string(tensor.type), *batch_axis)));
    }
    if (is_wide_ && options_.mesh.data > 1)
      layout = Layout::split(*batch_axis, bounds_of(tensor.type.shape[*batch_axis]));
  }
  tensors_.add(id, tensor.type, layouts_.id_of(layout));
  for_each_member([&](int member) {
    out.send(member, MemberWrite{id, part_of(tensor, layout, options_.mesh, member)});
  });
  return nullptr;
}

Failure SessionCore::release(std::span<const proto::TensorId> ids, Outbox& out) {
  Failure first;
  std::vector<proto::TensorId> gone;
  for (const auto id : ids) {
    if (!tensors_.is_known(id) && !first) first = failure_of(unknown_tensor(id));
    if (tensors_.drop(id)) gone.push_back(id);
  }
  if (!gone.empty()) for_each_member([&](int member) { out.send(member, proto::Release{gone}); });
  return first;
}

ReadPlan SessionCore::read(proto::TensorId id) {
  const auto* tensor = tensors_.find(id);
  if (!tensor) {
    const auto* poison = tensors_.poison_of(id);
    return {.poisoned = poison ? *poison : failure_of(unknown_tensor(id))};
  }
  ReadPlan plan{.type = tensor->type, .layout = layouts_[tensor->layout]};
  // Of members with the same part, only the ones in the row or column of home are read.
  const auto counts = [&](ir::MeshAxis axis, int member) {
    const auto& mesh = options_.mesh;
    return !plan.layout.along(axis).is_whole() || mesh.rank(axis, member) == mesh.rank(axis, options_.home);
  };
  for (int member = 0; member < members(); ++member) {
    if (counts(ir::MeshAxis::data, member) && counts(ir::MeshAxis::model, member)) plan.members.push_back(member);
  }
  return plan;
}

std::vector<proto::TensorId> SessionCore::replicas(const proto::Run& run) {
  std::vector<proto::TensorId> ids;
  const auto* routed = programs_.find(run.program);
  for (std::size_t k = 0; is_wide_ && routed && k < routed->output_count; ++k) {
    const auto* tensor = tensors_.find(run.first_output + k);
    if (tensor && tensor->layout == kWhole) ids.push_back(run.first_output + k);
  }
  return ids;
}

// --- from one member to all ------------------------------------------------------------------------------------------

Status SessionCore::widen(Outbox& out) {
  is_wide_ = true;
  drop_names(programs_.forget_variants());
  for (const auto id : tensors_.ids()) BURN_RETURN_IF_ERROR(replicate(id, tensors_.find(id)->type, out));
  return {};
}

// Copies the value of `id` from home to all members.
Status SessionCore::replicate(proto::TensorId id, const ir::TensorType& type, Outbox& out) {
  for (int member = 0; member < members(); ++member) {
    BURN_TRY(auto program, replication_program(type, options_.mesh, options_.home, member));
    proto::Run run{.program = kReplicationProgram};
    if (member == options_.home) {
      run.inputs = {id};
    } else {
      run.first_output = id;
    }
    out.send(member, proto::DefineProgram{kReplicationProgram, std::move(program), {}});
    out.send(member, std::move(run));
  }
  return {};
}

}  // namespace burn::router
