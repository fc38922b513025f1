#include "backends/gpu/device_program.h"

#include <algorithm>
#include <atomic>
#include <functional>

#include "backends/run_args.h"
#include "compile/plan/guards.h"
#include "compile/plan/recompute.h"

namespace burn::backends {
namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

}  // namespace

DeviceProgram::DeviceProgram(const ir::Program& program, const compile::PlanOptions& options)
    : id_(next_id()), options_(options), program_(compile::prepare(program, options_)) {}

void DeviceProgram::set_lowered(compile::Lowered lowered) {
  lowered_ = std::move(lowered);
  for (const auto& node : program_.nodes) {
    if (const auto* scalar = std::get_if<ir::Scalar>(&node.op)) scalars_.emplace_back(scalar->slot, scalar->dtype);
    if (ir::is_collective(node.op)) collectives_.push_back(&node);
  }
  find_dependencies();
}

// Finds what each value is computed from, in program order: a row of bits per value, for the inputs first, then for the
// checks. Of a select that a Commit guards only the old value counts: if anything else failed, the result is the old
// value.
void DeviceProgram::find_dependencies() {
  const auto inputs = program_.inputs.size(), checks = lowered_.checks.size();
  const auto words = (inputs + checks + 63) / 64;
  std::vector<std::uint64_t> rows(program_.values.size() * words);
  const auto row = [&](std::size_t value) { return rows.begin() + static_cast<std::ptrdiff_t>(value * words); };
  const auto bit = [](std::size_t k) { return std::uint64_t{1} << (k % 64); };
  const auto commits = compile::find_commits(program_);
  for (const auto& node : program_.nodes) {
    const auto made = row(node.first_value);
    for (const auto ref : compile::operands_propagating_failure(program_, node, commits)) {
      const auto k = static_cast<std::size_t>(ref.index());
      if (ref.is_input())
        made[static_cast<std::ptrdiff_t>(k / 64)] |= bit(k);
      else
        std::transform(made, made + static_cast<std::ptrdiff_t>(words), row(k), made, std::bit_or());
    }
    const auto number = static_cast<std::size_t>(&node - program_.nodes.data());
    for (std::size_t c = 0; c < checks; ++c) {
      if (lowered_.checks[c].node == static_cast<std::int32_t>(number))
        made[static_cast<std::ptrdiff_t>((inputs + c) / 64)] |= bit(inputs + c);
    }
    for (std::uint32_t k = 1; k < node.value_count; ++k) std::copy_n(made, words, row(node.first_value + k));
  }
  const auto cut = [&](std::size_t value, std::size_t begin, std::size_t end) {
    std::vector<bool> part(end - begin);
    for (auto k = begin; k < end; ++k)
      part[k - begin] = (row(value)[static_cast<std::ptrdiff_t>(k / 64)] & bit(k)) != 0;
    return part;
  };
  for (const auto* node : collectives_) {
    const auto ref = program_.operands_of(*node)[0];
    const auto k = static_cast<std::size_t>(ref.index());
    auto& of_inputs = collective_inputs_.emplace_back(ref.is_input() ? std::vector<bool>(inputs) : cut(k, 0, inputs));
    if (ref.is_input()) of_inputs[k] = true;
    collective_checks_.push_back(ref.is_input() ? std::vector<bool>(checks) : cut(k, inputs, inputs + checks));
  }
  for (const auto ref : program_.outputs) {
    inputs_of_.push_back(cut(static_cast<std::size_t>(ref.index()), 0, inputs));
    checks_of_.push_back(cut(static_cast<std::size_t>(ref.index()), inputs, inputs + checks));
    if (!collectives_.empty()) checks_of_.back().push_back(true);
  }
}

std::vector<bool> DeviceProgram::lose_steps_without_memory(std::vector<bool>& lost_outputs) const {
  std::vector<bool> lost_steps(lowered_.steps.size()), lost_values(program_.values.size());
  const auto is_lost = [&](ir::Ref ref) {
    return !ref.is_input() && lost_values[static_cast<std::size_t>(ref.index())];
  };
  const auto output_of = [&](ir::Ref ref) { return lowered_.output_of[static_cast<std::size_t>(ref.index())]; };
  const auto has_no_place = [&](ir::Ref ref) {
    return output_of(ref) >= 0 && lost_outputs[static_cast<std::size_t>(output_of(ref))];
  };
  const auto cannot_be_done = [&](const compile::LoweredStep& step) {
    return std::ranges::any_of(step.reads, is_lost) || std::ranges::any_of(step.results, has_no_place) ||
           (step.output >= 0 && lost_outputs[static_cast<std::size_t>(step.output)]);
  };
  auto merged = lowered_.merged.begin();
  for (std::size_t first = 0; first < lowered_.steps.size();) {
    auto end = first + 1;  // a merged launch executes all of its steps or none
    if (merged != lowered_.merged.end() && static_cast<std::size_t>(merged->first) == first)
      end = static_cast<std::size_t>((merged++)->second) + 1;
    const std::span together(lowered_.steps.data() + first, end - first);
    if (std::ranges::any_of(together, cannot_be_done)) {
      for (auto s = first; s < end; ++s) {
        lost_steps[s] = true;
        for (const auto ref : lowered_.steps[s].results) lost_values[static_cast<std::size_t>(ref.index())] = true;
      }
    }
    first = end;
  }
  for (std::size_t k = 0; k < program_.outputs.size(); ++k)
    lost_outputs[k] = lost_outputs[k] || is_lost(program_.outputs[k]);
  return lost_steps;
}

std::size_t DeviceProgram::memory_bytes() const {
  constexpr std::size_t kCommandBytes = 512;
  return sizeof *this + ir::memory_bytes(program_) + lowered_.commands.size() * kCommandBytes;
}

RunBytes DeviceProgram::run_bytes() const {
  RunBytes bytes{.peak = lowered_.arena.bytes, .kept = lowered_.arena.bytes};
  for (std::size_t k = 0; k < program_.outputs.size(); ++k) {
    const auto& source = lowered_.outputs[k];
    const bool is_in_an_input = source.shares_input >= 0 || source.reuses_input >= 0;
    if (!is_in_an_input) bytes.peak += program_.type_of(program_.outputs[k]).num_bytes();
  }
  return bytes;
}

std::vector<std::uint64_t> DeviceProgram::binding_words(const RunArgs& args) const {
  if (!reads_bindings()) return {};
  std::vector<std::uint64_t> words(first_commit_word(args) + lowered_.commits.size());
  words[0] = args.seed;
  words[1] = args.random_offset;
  for (const auto& [slot, dtype] : scalars_) {
    const auto scalar = static_cast<std::size_t>(slot);
    words[2 + scalar] = element_of_bits(dtype, args.scalars[scalar]);
  }
  return words;
}

}  // namespace burn::backends
