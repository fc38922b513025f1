#include "server/session_state.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "proto/message.h"
#include "server/guarded.h"

namespace burn::server {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds kQuick{50};  // a change of threads and back costs about as much

Status unknown_tensor(proto::TensorId id) {
  return not_found(fmt::format("tensor {} is not known in this session", id));
}

Status in_use(std::string_view what, std::uint64_t id) {
  return {StatusCode::already_exists, fmt::format("{} {} exists already in this session", what, id)};
}

Status too_many(std::string_view what, std::uint64_t limit) {
  return resource_exhausted(fmt::format("a session may not hold more than {} {}", limit, what));
}

}  // namespace

SessionState::SessionState(std::shared_ptr<Worker> worker, const Quotas& quotas, Budget& budget)
    : worker_(std::move(worker)), quotas_(quotas), budget_(budget) {}

// --- programs --------------------------------------------------------------------------------------------------------

Status SessionState::define(proto::ProgramId id, std::shared_ptr<const ir::Program> program) {
  if (!program) return define_invalid(id, 0, invalid_argument("there is no program"));
  Program entry{program, nullptr, {}, program->outputs.size()};
  if (programs_.contains(id)) return in_use("program", id);
  auto plan = worker_->compile(program);
  if (plan.ok()) {
    entry.plan = *std::move(plan);
  } else {
    entry.invalid = plan.status().with_context(fmt::format("program {}", id));
  }
  return add_program(id, std::move(entry), program->nodes.size());
}

Status SessionState::define_invalid(proto::ProgramId id, std::size_t output_count, Status why) {
  return add_program(id, {nullptr, nullptr, why.with_context(fmt::format("program {}", id)), output_count}, 0);
}

Status SessionState::add_program(proto::ProgramId id, Program program, std::size_t nodes) {
  if (programs_.contains(id)) return in_use("program", id);
  if (programs_.size() >= quotas_.programs) return too_many("programs", quotas_.programs);
  if (nodes > quotas_.nodes - nodes_) return too_many("nodes of programs", quotas_.nodes);
  nodes_ += nodes;
  auto status = program.invalid;
  programs_.emplace(id, std::move(program));
  return status;
}

// --- tensors ---------------------------------------------------------------------------------------------------------

Status SessionState::write(proto::TensorId id, const proto::HostTensor& tensor) {
  BURN_RETURN_IF_ERROR(check_new(id));
  const auto make = [&]() -> Result<Tensor> {
    if (tensor.bytes.size() != tensor.type.num_bytes()) {
      return invalid_argument(fmt::format("{} bytes for tensor {}: {}, which has {}", tensor.bytes.size(), id,
                                          ir::to_string(tensor.type), tensor.type.num_bytes()));
    }
    BURN_TRY(auto share, budget_.take(tensor.type.num_bytes()));
    BURN_TRY(auto buffer, upload(tensor.bytes.span()));
    return Tensor{tensor.type, std::move(share), std::move(buffer)};
  };
  auto made = make();
  if (made.ok()) {
    tensors_.emplace(id, *std::move(made));
  } else {
    poison(id, std::make_shared<const Status>(made.status()));
  }
  return made.status();
}

Status SessionState::begin_upload(proto::TensorId id, const ir::TensorType& type, std::shared_ptr<Upload> upload,
                                  Budget::Share share, Status failed) {
  const auto status = check_new(id);
  if (status.ok() && upload) {
    tensors_.emplace(id, Tensor{type, std::move(share), std::move(upload)});
    return {};
  }
  if (upload) upload->drop();
  if (status.ok()) poison(id, std::make_shared<const Status>(failed));
  return status.ok() ? failed : status;
}

Status SessionState::release(std::span<const proto::TensorId> ids) {
  Status first;
  for (const auto id : ids) {
    if (!drop(id) && first.ok()) first = unknown_tensor(id);
  }
  return first;
}

Result<proto::HostTensor> SessionState::read(proto::TensorId id) {
  const auto start = Clock::now();
  BURN_TRY(auto* tensor, find(id));
  BURN_TRY(const auto buffer, buffer_of(*tensor));
  BURN_TRY(auto bytes, worker_->backend().download(buffer, tensor->type.num_bytes()));
  if (bytes.size() <= proto::kInlineBytes) read_took_ = Clock::now() - start;
  return proto::HostTensor{tensor->type, std::move(bytes)};
}

Status SessionState::check_new(proto::TensorId id) const {
  if (tensors_.contains(id)) return in_use("tensor", id);
  if (tensors_.size() >= quotas_.tensors) return too_many("tensors", quotas_.tensors);
  return {};
}

Result<SessionState::Tensor*> SessionState::find(proto::TensorId id) {
  const auto found = tensors_.find(id);
  if (found == tensors_.end()) return unknown_tensor(id);
  if (const auto* poison = std::get_if<Poison>(&found->second.content)) return **poison;
  return &found->second;
}

// Keeps to the quota: past it the id stays unknown.
void SessionState::poison(proto::TensorId id, Poison why) {
  if (tensors_.size() < quotas_.tensors) tensors_.try_emplace(id, Tensor{{}, {}, std::move(why)});
}

bool SessionState::drop(proto::TensorId id) {
  const auto found = tensors_.find(id);
  if (found == tensors_.end()) return false;
  if (const auto* upload = std::get_if<std::shared_ptr<Upload>>(&found->second.content)) (*upload)->drop();
  tensors_.erase(found);
  return true;
}

// Waits for the tensor's numbers if they are still on their way.
Result<backends::BufferPtr> SessionState::buffer_of(Tensor& tensor) {
  if (auto* pending = std::get_if<std::shared_ptr<Upload>>(&tensor.content)) {
    const auto fetch = [&]() -> Result<backends::BufferPtr> {
      BURN_TRY(const auto bytes, (*pending)->wait());
      return upload(bytes.span());
    };
    auto buffer = fetch();
    if (!buffer.ok()) {
      tensor.content = std::make_shared<const Status>(buffer.status());
      tensor.share = {};
      return buffer.status();
    }
    tensor.content = *std::move(buffer);
  }
  return std::get<backends::BufferPtr>(tensor.content);
}

Result<backends::BufferPtr> SessionState::upload(std::span<const std::byte> bytes) {
  auto& backend = worker_->backend();
  BURN_TRY(auto buffer, backend.allocate(bytes.size()));
  BURN_RETURN_IF_ERROR(backend.upload(*buffer, bytes));
  return buffer;
}

// What may be written over. Somebody else may hold it: another output of the run that made it, or a read under way.
Result<backends::BufferPtr> SessionState::unshared(backends::BufferPtr buffer, std::size_t bytes) {
  if (buffer.use_count() == 1) return buffer;
  BURN_TRY(const auto content, worker_->backend().download(buffer, bytes));
  return upload(content.span());
}

void SessionState::clear() {
  for (auto& [id, tensor] : tensors_) {
    if (const auto* upload = std::get_if<std::shared_ptr<Upload>>(&tensor.content)) (*upload)->drop();
  }
  tensors_.clear();
  programs_.clear();
}

// --- runs ------------------------------------------------------------------------------------------------------------

Status SessionState::run(const proto::Run& run) {
  const auto found = programs_.find(run.program);
  if (found == programs_.end()) {
    const auto ignored = release(run.release);
    return not_found(fmt::format("program {} is not known in this session", run.program));
  }
  auto& program = found->second;
  const auto start = Clock::now();
  auto status = guarded([&] { return try_run(run, program); });
  if (status.ok()) program.took = Clock::now() - start;
  if (!status.ok()) {
    const auto why = std::make_shared<const Status>(status);
    const auto room = std::numeric_limits<proto::TensorId>::max() - run.first_output;
    for (std::size_t k = 0; k < program.output_count && k <= room; ++k) poison(run.first_output + k, why);
  }
  // Given away is given away, also to a run that failed.
  const auto given = status.ok() || !program.ir ? 0 : std::min(run.inputs.size(), program.ir->inputs.size());
  for (std::size_t i = 0; i < given; ++i) {
    if (program.ir->inputs[i].donated) drop(run.inputs[i]);
  }
  for (const auto id : run.release) drop(id);
  return status;
}

bool SessionState::is_quick(const proto::Run& run) const {
  const auto found = programs_.find(run.program);
  if (found == programs_.end() || found->second.took > kQuick || run.release.size() > kMaxQuickReleases) return false;
  return std::ranges::none_of(run.inputs, [&](proto::TensorId id) { return is_awaited(id); });
}

bool SessionState::is_quick_read(proto::TensorId id) const {
  const auto found = tensors_.find(id);
  if (found == tensors_.end()) return true;  // to be told so
  return read_took_ <= kQuick && !is_awaited(id) && found->second.type.num_bytes() <= proto::kInlineBytes;
}

bool SessionState::is_awaited(proto::TensorId id) const {
  const auto found = tensors_.find(id);
  return found != tensors_.end() && std::holds_alternative<std::shared_ptr<Upload>>(found->second.content);
}

Status SessionState::try_run(const proto::Run& run, const Program& program) {
  BURN_RETURN_IF_ERROR(program.invalid);
  const auto& ir = *program.ir;
  const auto here = [&](const Status& status) { return status.with_context(fmt::format("program {}", run.program)); };
  if (auto status = check_outputs(run, program.output_count); !status.ok()) return here(status);
  BURN_RETURN_IF_ERROR(check_inputs(run, ir));
  if (auto status = check_releases(run); !status.ok()) return here(status);
  BURN_TRY(auto inputs, bind_inputs(run, ir));

  std::vector<Budget::Share> shares;
  shares.reserve(ir.outputs.size());
  for (const auto ref : ir.outputs) {
    auto share = budget_.take(ir.type_of(ref).num_bytes());
    if (!share.ok()) return here(share.status());
    shares.push_back(*std::move(share));
  }
  auto outputs = program.plan->run({std::move(inputs), run.scalars, run.seed, run.random_offset});
  worker_->count_run();
  if (!outputs.ok()) return here(outputs.status());
  if (outputs->size() != ir.outputs.size()) return here(internal_error("the backend lost an output"));
  for (std::size_t k = 0; k < outputs->size(); ++k) {
    tensors_.emplace(run.first_output + k,
                     Tensor{ir.type_of(ir.outputs[k]), std::move(shares[k]), std::move((*outputs)[k])});
  }
  return {};
}

Status SessionState::check_outputs(const proto::Run& run, std::size_t count) const {
  if (count > std::numeric_limits<proto::TensorId>::max() - run.first_output) {
    return invalid_argument(fmt::format("there are no {} ids from {} on", count, run.first_output));
  }
  if (count > quotas_.tensors || tensors_.size() > quotas_.tensors - count) return too_many("tensors", quotas_.tensors);
  for (std::size_t k = 0; k < count; ++k) {
    if (tensors_.contains(run.first_output + k)) return in_use("tensor", run.first_output + k);
  }
  return {};
}

// A poisoned input's reason is passed on as it is; everything else is this run's own mistake and says so.
Status SessionState::check_inputs(const proto::Run& run, const ir::Program& program) {
  const auto here = [&](const Status& status) { return status.with_context(fmt::format("program {}", run.program)); };
  if (run.inputs.size() != program.inputs.size()) {
    return here(invalid_argument(fmt::format("{} inputs given, it has {}", run.inputs.size(), program.inputs.size())));
  }
  if (run.scalars.size() != static_cast<std::size_t>(program.scalar_count)) {
    return here(invalid_argument(fmt::format("{} scalars given, it has {}", run.scalars.size(), program.scalar_count)));
  }
  ++run_serial_;
  for (std::size_t i = 0; i < run.inputs.size(); ++i) {
    const auto id = run.inputs[i];
    const auto found = tensors_.find(id);
    if (found == tensors_.end()) return here(unknown_tensor(id));
    auto& tensor = found->second;
    if (const auto* poison = std::get_if<Poison>(&tensor.content)) return **poison;
    const auto& [type, donated] = program.inputs[i];
    if (tensor.type != type) {
      return here(invalid_argument(
          fmt::format("input {} is {}, tensor {} is {}", i, ir::to_string(type), id, ir::to_string(tensor.type))));
    }
    if (tensor.used_by == run_serial_ && (donated || tensor.donated_to)) {
      return here(invalid_argument(fmt::format("tensor {} is donated and used twice", id)));
    }
    tensor.used_by = run_serial_;
    tensor.donated_to = donated;
  }
  return {};
}

Status SessionState::check_releases(const proto::Run& run) {
  for (const auto id : run.release) {
    const auto found = tensors_.find(id);
    if (found == tensors_.end()) return unknown_tensor(id);
    if (found->second.used_by == run_serial_ && found->second.donated_to) {
      return invalid_argument(fmt::format("tensor {} is donated and released", id));
    }
  }
  return {};
}

// Requires: check_inputs said ok. Donated tensors leave the table here, and their share of the budget with them.
Result<std::vector<backends::BufferPtr>> SessionState::bind_inputs(const proto::Run& run, const ir::Program& program) {
  std::vector<backends::BufferPtr> buffers;
  buffers.reserve(run.inputs.size());
  for (const auto id : run.inputs) {
    BURN_TRY(auto buffer, buffer_of(tensors_.find(id)->second));
    buffers.push_back(std::move(buffer));
  }
  for (std::size_t i = 0; i < run.inputs.size(); ++i) {
    if (!program.inputs[i].donated) continue;
    drop(run.inputs[i]);
    BURN_TRY(buffers[i], unshared(std::move(buffers[i]), program.inputs[i].type.num_bytes()));
  }
  return buffers;
}

}  // namespace burn::server
