// The inputs of a run: looked up once, checked, bound, and donated.
#include <fmt/format.h>

#include "session/state.h"
#include "session/state_errors.h"

namespace burn::session {

Status SessionState::check_inputs(const proto::Run& run, const ir::Program& program) {
  if (run.inputs.size() != program.inputs.size()) {
    return invalid_argument(fmt::format("{} inputs given, it has {}", run.inputs.size(), program.inputs.size()));
  }
  if (run.scalars.size() != static_cast<std::size_t>(program.scalar_count)) {
    return invalid_argument(fmt::format("{} scalars given, it has {}", run.scalars.size(), program.scalar_count));
  }
  ++run_serial_;
  inputs_.clear();
  for (std::size_t i = 0; i < run.inputs.size(); ++i) {
    const auto id = run.inputs[i];
    const auto found = inputs_.emplace_back(tensors_.find(id));
    if (!tensors_.is_found(found)) {
      if (poisoned_.find(id)) continue;
      return unknown_tensor(id);
    }
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
    const auto* tensor = tensors_.look_up(id);
    if (!tensor) {
      if (poisoned_.find(id)) continue;
      return unknown_tensor(id);
    }
    if (tensor->used_by == run_serial_ && tensor->donated_to) {
      return invalid_argument(fmt::format("tensor {} is donated and released", id));
    }
  }
  return {};
}

// Requires: check_inputs() returned ok.
Status SessionState::bind_inputs(const proto::Run& run, backends::RunArgs& args) {
  args.inputs.reserve(run.inputs.size());
  for (std::size_t i = 0; i < run.inputs.size(); ++i) {
    const auto found = inputs_[i];
    const bool is_there = tensors_.is_found(found);
    if (is_there) BURN_RETURN_IF_ERROR(fill(found->second));
    args.inputs.push_back(is_there ? buffer_of(found->second) : nullptr);
    if (args.inputs.back()) continue;
    args.failures.resize(run.inputs.size());
    args.failures[i] = is_there ? std::get<Failure>(found->second.content) : *poisoned_.find(run.inputs[i]);
  }
  return {};
}

// Copies the donated inputs that have other owners: another output of the run that made them, or a pending read. Empty
// if there are none.
Result<std::vector<backends::BufferPtr>> SessionState::copy_shared_inputs(const ir::Program& program,
                                                                          const backends::RunArgs& args) {
  constexpr long kOurs = 2;  // the table's and the run's
  std::vector<backends::BufferPtr> copies;
  for (std::size_t i = 0; i < args.inputs.size(); ++i) {
    if (!program.inputs[i].donated || args.inputs[i].use_count() <= kOurs) continue;
    copies.resize(args.inputs.size());
    BURN_TRY(copies[i], stream_.clone(args.inputs[i]));
  }
  return copies;
}

// Removes donated tensors from the table; the run gets their shares of the budget, except those of copied tensors.
void SessionState::consume_donated_inputs(const proto::Run& run, const ir::Program& program,
                                          std::vector<backends::BufferPtr> copies, backends::RunArgs& args,
                                          Budget::Share& memory) {
  for (std::size_t i = 0; i < run.inputs.size(); ++i) {
    if (!program.inputs[i].donated) continue;
    const auto found = inputs_[i];
    if (!tensors_.is_found(found) || !args.inputs[i]) {
      drop(run.inputs[i]);
      continue;
    }
    if (!copies.empty() && copies[i]) {
      charge_buffer(args.inputs[i], 2, std::move(found->second.share));  // the table's and the run's
      args.inputs[i] = std::move(copies[i]);
    } else {
      memory.join(std::move(found->second.share));
    }
    tensors_.erase(found);
  }
}

}  // namespace burn::session
