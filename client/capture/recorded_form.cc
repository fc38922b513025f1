#include "client/capture/recorded_form.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/error.h"

namespace burn::client {

std::shared_ptr<const ir::Program> with_donated_inputs(const ir::Program& program, const std::vector<bool>& donated) {
  ir::ProgramBuilder builder;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    builder.add_input(program.inputs[i].type);
    if (!donated.empty() && donated[i]) builder.donate(static_cast<std::int32_t>(i));
  }
  for (const auto& node : program.nodes) {
    // The values keep their numbers, as all nodes are added in the same order.
    (void)value_or_throw(builder.add(node.op, program.operands_of(node), node.site, node.recompute));
  }
  return std::make_shared<const ir::Program>(builder.finish(program.outputs));
}

namespace {

RecordedSource source_of(const Value& value, const CapturedRun& captured, std::span<const proto::TensorId> ids) {
  if (!value.has_value()) return {};
  RecordedSource source{RecordedSource::From::output, 0, value.is_autodiff(), is_leaf_of_tape(value)};
  const auto id = value.storage()->id;
  if (id >= captured.run.first_output && id - captured.run.first_output < captured.program->outputs.size()) {
    source.index = id - captured.run.first_output;
    return source;
  }
  const auto found = std::ranges::find(ids, id);
  if (found == ids.end()) {
    throw Error(StatusCode::failed_precondition, "a captured step puts a tensor " + ir::to_string(value.type()) +
                                                     " from outside into its results; it would never change");
  }
  source.from = RecordedSource::From::argument;
  source.index = static_cast<std::size_t>(found - ids.begin());
  return source;
}

std::vector<RecordedSource> sources_of(const std::vector<Value*>& values, const CapturedRun& captured,
                                       std::span<const proto::TensorId> ids) {
  std::vector<RecordedSource> sources;
  std::unordered_map<const TapeNode*, std::size_t> leaves;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sources.push_back(source_of(*values[i], captured, ids));
    if (!sources.back().is_leaf) continue;
    const auto [first, is_first] = leaves.try_emplace(values[i]->tape().get(), i);
    if (!is_first) sources.back().same_leaf_as = static_cast<std::int64_t>(first->second);
  }
  return sources;
}

}  // namespace

RecordedForm form_of(const CaptureLog& log, const CapturedRun& captured, std::span<const proto::TensorId> ids,
                     const CaptureState& persistent, const CaptureState& result) {
  RecordedForm form;
  form.program = with_donated_inputs(*captured.program, {});
  std::unordered_map<proto::TensorId, std::size_t> argument_of;
  for (std::size_t i = 0; i < ids.size(); ++i) argument_of.try_emplace(ids[i], i);
  for (const auto id : captured.run.inputs) form.inputs.push_back(argument_of.at(id));
  auto holders = persistent.values();
  holders.insert(holders.end(), result.values().begin(), result.values().end());
  const auto sources = sources_of(holders, captured, ids);
  const auto middle = sources.begin() + static_cast<std::ptrdiff_t>(persistent.values().size());
  form.persistent.assign(sources.begin(), middle);
  form.result.assign(middle, sources.end());
  form.given = log.given();
  form.events = log.events();
  form.scalars = captured.run.scalars;
  for (const auto& given : form.given) form.scalars[given.slot] = 0;
  for (const auto& event : form.events) {
    form.event_numbers.push_back(static_cast<std::int32_t>(log.number_of(event.number)));
    for (std::size_t k = 0; k < event.count; ++k) form.scalars[event.slot + k] = 0;
  }
  return form;
}

std::vector<std::int32_t> dropped_of(const RecordedForm& form, std::span<const std::uint64_t> aliases) {
  std::vector<std::int32_t> by_alias(aliases.size());
  const auto first_alias = [&](std::size_t argument) { return static_cast<std::size_t>(aliases[argument]); };
  const auto taken_over = [&](const RecordedSource& source) {
    if (source.from == RecordedSource::From::argument) by_alias[first_alias(source.index)] = -1;
  };
  for (std::size_t i = 0; i < aliases.size(); ++i) {
    auto& dropped = by_alias[first_alias(i)];
    const bool lasts = i < form.persistent.size();
    const bool stays = lasts && form.persistent[i].from == RecordedSource::From::argument &&
                       form.persistent[i].index == first_alias(i);
    if (!stays && dropped >= 0) dropped += 1;
    if (lasts && !stays) taken_over(form.persistent[i]);
  }
  for (const auto& source : form.result) taken_over(source);
  std::vector<std::int32_t> dropped;
  for (const auto argument : form.inputs) {
    const auto count = by_alias[first_alias(argument)];
    dropped.push_back(count == 0 ? -1 : count);
  }
  return dropped;
}

}  // namespace burn::client
