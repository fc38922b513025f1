#include "session/state.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "proto/message.h"
#include "session/guarded.h"

namespace burn::session {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds kQuick{50};  // a change of threads and back costs about as much

Status unknown_tensor(proto::TensorId id) {
  return not_found(fmt::format("tensor {} is not known in this session", id));
}

Status in_use(proto::TensorId id) {
  return {StatusCode::already_exists, fmt::format("tensor {} exists already in this session", id)};
}

}  // namespace

SessionState::SessionState(std::shared_ptr<Worker> worker, const Quotas& quotas, Budget& budget, SessionStream& stream)
    : worker_(worker), quotas_(quotas), budget_(budget), stream_(stream), programs_(std::move(worker), quotas) {}

// Past the quota the id stays unknown.
void SessionState::poison(proto::TensorId id, Failure why) {
  if (tensors_.size() / 2 < quotas_.tensors) tensors_.try_emplace(id, Tensor{{}, {}, std::move(why)});
}

// --- programs --------------------------------------------------------------------------------------------------------

void SessionState::define(proto::ProgramId id, std::shared_ptr<const ir::Program> program,
                          std::span<const proto::ProgramId> forget) {
  stream_.note(guarded([&] { return programs_.define(id, std::move(program), forget); }));
}

void SessionState::define_invalid(proto::ProgramId id, std::size_t output_count, const Status& why,
                                  std::span<const proto::ProgramId> forget) {
  stream_.note(guarded([&] { return programs_.define_invalid(id, output_count, why, forget); }));
}

// --- tensors ---------------------------------------------------------------------------------------------------------

void SessionState::write(proto::TensorId id, const proto::HostTensor& tensor) {
  if (tensors_.contains(id)) {
    stream_.note(in_use(id));
    return;
  }
  auto made = guarded([&] { return make(id, tensor); });
  if (made.ok()) {
    tensors_.emplace(id, *std::move(made));
  } else {
    poison(id, stream_.note(made.status()));
  }
}

Result<SessionState::Tensor> SessionState::make(proto::TensorId id, const proto::HostTensor& tensor) {
  BURN_RETURN_IF_ERROR(check_room(1));
  if (tensor.bytes.size() != tensor.type.num_bytes()) {
    return invalid_argument(fmt::format("{} bytes for tensor {}: {}, which has {}", tensor.bytes.size(), id,
                                        ir::to_string(tensor.type), tensor.type.num_bytes()));
  }
  BURN_TRY(auto share, budget_.take(tensor.type.num_bytes()));
  BURN_TRY(auto buffer, stream_.upload(tensor.bytes));
  return Tensor{tensor.type, std::move(share), std::move(buffer)};
}

void SessionState::begin_upload(proto::TensorId id, const ir::TensorType& type, std::shared_ptr<StagedUpload> upload,
                                Budget::Share share, Status failed) {
  const bool is_new = !tensors_.contains(id);
  if (failed.ok()) failed = is_new ? check_room(1) : in_use(id);
  if (failed.ok()) {
    tensors_.emplace(id, Tensor{type, std::move(share), std::move(upload)});
    return;
  }
  if (upload) upload->drop();
  auto why = stream_.note(std::move(failed));
  if (is_new) poison(id, std::move(why));
}

void SessionState::release(std::span<const proto::TensorId> ids) {
  Status first;
  for (const auto id : ids) {
    if (!drop(id) && first.ok()) first = unknown_tensor(id);
  }
  stream_.note(std::move(first));
}

void SessionState::read(proto::TensorId id, proto::Session::ReadCallback done) {
  const auto found = tensors_.find(id);
  if (found == tensors_.end()) {
    return stream_.refuse(std::make_shared<const Status>(unknown_tensor(id)), std::move(done));
  }
  auto& tensor = found->second;
  if (auto buffer = buffer_of(tensor)) return stream_.read(std::move(buffer), tensor.type, std::move(done));
  stream_.refuse(std::get<Failure>(tensor.content), std::move(done));
}

Status SessionState::check_room(std::size_t tensors) const {
  if (tensors <= quotas_.tensors && tensors_.size() <= quotas_.tensors - tensors) return {};
  return resource_exhausted(fmt::format("a session may not hold more than {} tensors", quotas_.tensors));
}

bool SessionState::drop(proto::TensorId id) {
  const auto found = tensors_.find(id);
  if (found == tensors_.end()) return false;
  if (const auto* upload = std::get_if<std::shared_ptr<StagedUpload>>(&found->second.content)) (*upload)->drop();
  tensors_.erase(found);
  return true;
}

// Waits for the tensor's numbers if they are still on their way. Null: the tensor's content is a Failure.
backends::BufferPtr SessionState::buffer_of(Tensor& tensor) {
  if (const auto* pending = std::get_if<std::shared_ptr<StagedUpload>>(&tensor.content)) {
    auto buffer = guarded([&]() -> Result<backends::BufferPtr> {
      BURN_TRY(auto block, (*pending)->wait());
      return stream_.upload(std::move(block));
    });
    if (buffer.ok()) {
      tensor.content = *std::move(buffer);
    } else {
      tensor.content = stream_.note(buffer.status());
      tensor.share = {};
    }
  }
  const auto* buffer = std::get_if<backends::BufferPtr>(&tensor.content);
  return buffer ? *buffer : nullptr;
}

void SessionState::clear() {
  for (auto& [id, tensor] : tensors_) {
    if (const auto* upload = std::get_if<std::shared_ptr<StagedUpload>>(&tensor.content)) (*upload)->drop();
  }
  tensors_.clear();
  programs_.clear();
}

// --- runs ------------------------------------------------------------------------------------------------------------

void SessionState::run(const proto::Run& run) {
  auto* program = programs_.find(run.program);
  if (!program) {
    stream_.note(not_found(fmt::format("program {} is not known in this session", run.program)));
  } else {
    execute(run, *program);
  }
  for (const auto id : run.release) drop(id);
}

void SessionState::execute(const proto::Run& run, SessionProgram& program) {
  const auto start = Clock::now();
  const auto status = guarded([&] { return try_run(run, program, start); });
  if (status.ok()) {
    program.took = Clock::now() - start;
    return;
  }
  const auto why = stream_.note(status);
  const auto room = std::numeric_limits<proto::TensorId>::max() - run.first_output;
  for (std::size_t k = 0; k < program.output_count && k <= room; ++k) poison(run.first_output + k, why);
  // Given away is given away, also to a run that failed.
  const auto given = program.ir ? std::min(run.inputs.size(), program.ir->inputs.size()) : 0;
  for (std::size_t i = 0; i < given; ++i) {
    if (program.ir->inputs[i].donated) drop(run.inputs[i]);
  }
}

bool SessionState::is_quick(const proto::Run& run) const {
  const auto* program = programs_.find(run.program);
  if (!program || program->took > kQuick || program->plan.expired() || run.release.size() > kMaxQuickReleases)
    return false;
  if (program->ir && program->ir->effect_count > 0) return false;  // waits for others, however long they take
  return std::ranges::none_of(run.inputs, [&](proto::TensorId id) { return is_awaited(id); });
}

bool SessionState::is_quick_read(proto::TensorId id) const {
  const auto found = tensors_.find(id);
  if (found == tensors_.end()) return true;  // to be told so
  return !is_awaited(id) && found->second.type.num_bytes() <= proto::kInlineBytes;
}

bool SessionState::is_awaited(proto::TensorId id) const {
  const auto found = tensors_.find(id);
  return found != tensors_.end() && std::holds_alternative<std::shared_ptr<StagedUpload>>(found->second.content);
}

Status SessionState::try_run(const proto::Run& run, SessionProgram& program, Plan::Clock::time_point now) {
  const auto here = [&](const Status& status) { return status.with_context(fmt::format("program {}", run.program)); };
  BURN_RETURN_IF_ERROR(program.invalid);
  const auto& ir = *program.ir;
  const auto plan = programs_.plan_of(program);
  if (!plan.ok()) return here(plan.status());
  if (auto status = check_outputs(run, program.output_count); !status.ok()) return here(status);
  if (auto status = check_inputs(run, ir); !status.ok()) return here(status);
  if (auto status = check_releases(run); !status.ok()) return here(status);
  backends::RunArgs args{
      .scalars = run.scalars, .seed = run.seed, .random_offset = run.random_offset, .program = run.program};
  if (auto status = bind_inputs(run, ir, args); !status.ok()) return here(status);
  auto shares = take_shares(ir);
  if (!shares.ok()) return here(shares.status());

  (*plan)->mark_used(now);
  auto result = stream_.run((*plan)->executable(), std::move(args));
  worker_->count_run();
  if (!result.ok()) return here(result.status());
  if (result->outputs.size() != ir.outputs.size()) return here(internal_error("the backend lost an output"));
  keep_outputs(run, ir, *std::move(shares), *std::move(result));
  return {};
}

Result<std::vector<Budget::Share>> SessionState::take_shares(const ir::Program& program) {
  std::vector<Budget::Share> shares;
  shares.reserve(program.outputs.size());
  for (const auto ref : program.outputs) {
    BURN_TRY(auto share, budget_.take(program.type_of(ref).num_bytes()));
    shares.push_back(std::move(share));
  }
  return shares;
}

void SessionState::keep_outputs(const proto::Run& run, const ir::Program& program, std::vector<Budget::Share> shares,
                                backends::RunResult result) {
  for (std::size_t k = 0; k < result.outputs.size(); ++k) {
    if (!result.failures.empty() && result.failures[k]) {
      poison(run.first_output + k, std::move(result.failures[k]));
    } else {
      tensors_.emplace(run.first_output + k,
                       Tensor{program.type_of(program.outputs[k]), std::move(shares[k]), std::move(result.outputs[k])});
    }
  }
}

Status SessionState::check_outputs(const proto::Run& run, std::size_t count) const {
  if (count > std::numeric_limits<proto::TensorId>::max() - run.first_output) {
    return invalid_argument(fmt::format("there are no {} ids from {} on", count, run.first_output));
  }
  BURN_RETURN_IF_ERROR(check_room(count));
  for (std::size_t k = 0; k < count; ++k) {
    if (tensors_.contains(run.first_output + k)) return in_use(run.first_output + k);
  }
  return {};
}

Status SessionState::check_inputs(const proto::Run& run, const ir::Program& program) {
  if (run.inputs.size() != program.inputs.size()) {
    return invalid_argument(fmt::format("{} inputs given, it has {}", run.inputs.size(), program.inputs.size()));
  }
  if (run.scalars.size() != static_cast<std::size_t>(program.scalar_count)) {
    return invalid_argument(fmt::format("{} scalars given, it has {}", run.scalars.size(), program.scalar_count));
  }
  ++run_serial_;
  for (std::size_t i = 0; i < run.inputs.size(); ++i) {
    const auto id = run.inputs[i];
    const auto found = tensors_.find(id);
    if (found == tensors_.end()) return unknown_tensor(id);
    auto& tensor = found->second;
    const auto& [type, donated] = program.inputs[i];
    if (tensor.type != type && !std::holds_alternative<Failure>(tensor.content)) {
      return invalid_argument(
          fmt::format("input {} is {}, tensor {} is {}", i, ir::to_string(type), id, ir::to_string(tensor.type)));
    }
    if (tensor.used_by == run_serial_ && (donated || tensor.donated_to)) {
      return invalid_argument(fmt::format("tensor {} is donated and used twice", id));
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
Status SessionState::bind_inputs(const proto::Run& run, const ir::Program& program, backends::RunArgs& args) {
  args.inputs.reserve(run.inputs.size());
  for (std::size_t i = 0; i < run.inputs.size(); ++i) {
    auto& tensor = tensors_.find(run.inputs[i])->second;
    args.inputs.push_back(buffer_of(tensor));
    if (args.inputs.back()) continue;
    args.failures.resize(run.inputs.size());
    args.failures[i] = std::get<Failure>(tensor.content);
  }
  for (std::size_t i = 0; i < run.inputs.size(); ++i) {
    if (!program.inputs[i].donated) continue;
    drop(run.inputs[i]);
    if (!args.inputs[i]) continue;
    BURN_TRY(args.inputs[i], stream_.unshared(std::move(args.inputs[i])));
  }
  return {};
}

}  // namespace burn::session
