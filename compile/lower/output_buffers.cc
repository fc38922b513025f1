#include "compile/lower/output_buffers.h"

#include <algorithm>

#include "compile/plan/guards.h"

namespace burn::compile {
namespace {

constexpr std::int32_t kNone = -1;

// Per output: the step in which it is made.
std::vector<std::int32_t> made_at(const Timeline& timeline, std::span<const std::int32_t> output_of) {
  auto steps = timeline.copied;
  for (std::size_t v = 0; v < output_of.size(); ++v) {
    if (output_of[v] != kNone && timeline.made[v] != kNone)
      steps[static_cast<std::size_t>(output_of[v])] = timeline.made[v];
  }
  return steps;
}

const ValueView& view_of(const std::vector<ValueView>& views, ir::Ref value) {
  return views[static_cast<std::size_t>(value.index())];
}

bool is_whole(const ir::Program& program, const ValueView& view, ir::Ref ref) {
  const auto& type = program.type_of(ref);
  return view.offset == 0 && is_contiguous(type.shape, view.strides) &&
         type.num_bytes() == program.type_of(view.base).num_bytes();
}

}  // namespace

bool is_number(const ir::Program& program, ir::Ref value) {
  const auto& op = program.maker_of(value).op;
  return std::holds_alternative<ir::Constant>(op) || std::holds_alternative<ir::Scalar>(op);
}

std::vector<OutputSource> assign_outputs(const ir::Program& program, const std::vector<ValueView>& views,
                                         std::vector<std::int32_t>& output_of) {
  std::vector<OutputSource> outputs(program.outputs.size());
  const auto assigned = [&](ir::Ref value) -> std::int32_t& {
    return output_of[static_cast<std::size_t>(value.index())];
  };
  for (std::size_t k = 0; k < program.outputs.size(); ++k) {
    const auto ref = program.outputs[k];
    if (view_of(views, ref).base == ref && !is_number(program, ref)) assigned(ref) = static_cast<std::int32_t>(k);
  }
  for (std::size_t k = 0; k < program.outputs.size(); ++k) {
    const auto ref = program.outputs[k];
    const auto& view = view_of(views, ref);
    if (view.base == ref || !is_whole(program, view, ref)) continue;
    if (view.base.is_input())
      outputs[k].shares_input = view.base.index();
    else if (assigned(view.base) == kNone && !is_number(program, view.base))
      assigned(view.base) = static_cast<std::int32_t>(k);
  }
  return outputs;
}

void reuse_inputs(const ir::Program& program, const Timeline& timeline, std::span<const std::int32_t> output_of,
                  std::vector<OutputSource>& outputs) {
  std::vector<bool> taken(program.inputs.size());
  for (const auto& output : outputs) {
    if (output.shares_input != kNone) taken[static_cast<std::size_t>(output.shares_input)] = true;
  }
  const auto made = made_at(timeline, output_of);
  const auto try_reuse = [&](std::size_t k, std::int32_t i, bool in_place) {
    auto& output = outputs[k];
    const auto& from = program.inputs[static_cast<std::size_t>(i)];
    if (output.shares_input != kNone || output.reuses_input != kNone || !from.donated ||
        taken[static_cast<std::size_t>(i)])
      return;
    if (from.type.num_bytes() != program.type_of(program.outputs[k]).num_bytes() || from.type.num_bytes() == 0) return;
    const auto read = timeline.last_read[static_cast<std::size_t>(i)];
    if (in_place ? read > made[k] : read >= made[k]) return;
    output.reuses_input = i;
    taken[static_cast<std::size_t>(i)] = true;
  };
  // What a Commit guards takes the place of what it replaces: parameters and moments then lie where they lay before,
  // from step to step, and a graph with their addresses stays right.
  for (const auto& kept : kept_outputs(program)) {
    const bool is_in_place = std::ranges::any_of(timeline.in_place, [&](const auto& pair) {
      return pair.first == kept.input &&
             output_of[static_cast<std::size_t>(pair.second)] == static_cast<std::int32_t>(kept.output);
    });
    if (is_in_place) try_reuse(kept.output, kept.input, true);
  }
  for (const auto& [input, value] : timeline.in_place) {
    const auto output = output_of[static_cast<std::size_t>(value)];
    if (output != kNone) try_reuse(static_cast<std::size_t>(output), input, true);
  }
  for (std::size_t k = 0; k < program.outputs.size(); ++k) {
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(program.inputs.size()); ++i) try_reuse(k, i, false);
  }
}

}  // namespace burn::compile
