#include "router/core/run_check.h"

#include <limits>

#include <fmt/format.h>

namespace burn::router {
namespace {

// Marks the tensors as used by this run.
Status check_inputs(const proto::Run& run, const ir::Program& program, Tensors& tensors, std::uint64_t serial) {
  for (std::size_t i = 0; i < run.inputs.size(); ++i) {
    const auto id = run.inputs[i];
    auto* tensor = tensors.find(id);
    if (!tensor) {
      const auto* poison = tensors.poison_of(id);
      return poison ? **poison : unknown_tensor(id);
    }
    const auto& [type, donated] = program.inputs[i];
    if (tensor->type != type) {
      return invalid_argument(
          fmt::format("input {} is {}, tensor {} is {}", i, ir::to_string(type), id, ir::to_string(tensor->type)));
    }
    if (tensor->used_by == serial && (donated || tensor->donated_to))
      return invalid_argument(fmt::format("tensor {} is donated and used twice", id));
    tensor->used_by = serial;
    tensor->donated_to = donated;
  }
  return {};
}

Status check_releases(const proto::Run& run, Tensors& tensors, std::uint64_t serial) {
  for (const auto id : run.release) {
    const auto* tensor = tensors.find(id);
    if (!tensor && !tensors.poison_of(id)) return unknown_tensor(id);
    if (tensor && tensor->used_by == serial && tensor->donated_to)
      return invalid_argument(fmt::format("tensor {} is donated and released", id));
  }
  return {};
}

}  // namespace

Status unknown_tensor(proto::TensorId id) {
  return not_found(fmt::format("tensor {} is not known in this session", id));
}

Status tensor_exists(proto::TensorId id) {
  return {StatusCode::already_exists, fmt::format("tensor {} exists already in this session", id)};
}

Status too_many_tensors(std::uint64_t max_tensors) {
  return resource_exhausted(fmt::format("a session may not hold more than {} tensors", max_tensors));
}

Status check_run(const proto::Run& run, const RoutedProgram& routed, Tensors& tensors, std::uint64_t max_tensors) {
  BURN_RETURN_IF_ERROR(routed.refused);
  const auto& program = *routed.program;
  const auto outputs = program.outputs.size();
  if (outputs > std::numeric_limits<proto::TensorId>::max() - run.first_output)
    return invalid_argument(fmt::format("there are no {} ids from {} on", outputs, run.first_output));
  if (tensors.size() + outputs > max_tensors) return too_many_tensors(max_tensors);
  for (std::size_t k = 0; k < outputs; ++k) {
    if (tensors.is_known(run.first_output + k)) return tensor_exists(run.first_output + k);
  }
  if (run.inputs.size() != program.inputs.size())
    return invalid_argument(fmt::format("{} inputs given, it has {}", run.inputs.size(), program.inputs.size()));
  if (run.scalars.size() != static_cast<std::size_t>(program.scalar_count))
    return invalid_argument(fmt::format("{} scalars given, it has {}", run.scalars.size(), program.scalar_count));
  const auto serial = tensors.begin_run();
  BURN_RETURN_IF_ERROR(check_inputs(run, program, tensors, serial));
  return check_releases(run, tensors, serial);
}

}  // namespace burn::router
