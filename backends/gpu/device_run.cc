#include "backends/gpu/device_run.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "ir/node_errors.h"

namespace burn::backends {
namespace {

Status failure_at(const ir::Node& node, const Status& why, std::optional<std::uint64_t> run_of) {
  const auto status = ir::at_node(why, ir::called_name(node), to_string(node.site));
  return run_of ? status.with_context(fmt::format("program {}", *run_of)) : status;
}

}  // namespace

void add_known_failures(RunArgs& args) {
  const Outcome* sound = nullptr;  // the last outcome without a failure: many inputs share one
  for (std::size_t i = 0; i < args.inputs.size(); ++i) {
    if (!args.inputs[i]) continue;
    const auto* const outcome = device_buffer(args.inputs[i]).outcome.get();
    if (outcome == nullptr || outcome == sound) continue;
    if (auto failure = outcome->failure()) {
      if (args.failures.empty()) args.failures.resize(args.inputs.size());
      if (!args.failures[i]) args.failures[i] = std::move(failure);
    } else {
      sound = outcome;
    }
  }
}

std::vector<BufferPtr> output_buffers(const DeviceProgram& of, const RunArgs& args, RunResult& result,
                                      const std::function<Result<BufferPtr>(std::size_t bytes)>& allocate,
                                      const std::function<bool(const BufferPtr& input)>& is_own) {
  const auto& program = of.program();
  std::vector<BufferPtr> buffers(program.outputs.size());
  for (std::size_t k = 0; k < buffers.size(); ++k) {
    const auto& source = of.lowered().outputs[k];
    const auto& type = program.type_of(program.outputs[k]);
    if (source.shares_input >= 0) {
      buffers[k] = args.inputs[static_cast<std::size_t>(source.shares_input)];
      continue;
    }
    if (source.reuses_input >= 0) {
      const auto& input = args.inputs[static_cast<std::size_t>(source.reuses_input)];
      if (input.use_count() == 1 && input->size() == type.num_bytes() && is_own(input)) {
        buffers[k] = input;
        continue;
      }
    }
    auto buffer = allocate(type.num_bytes());
    if (buffer.ok()) {
      buffers[k] = *std::move(buffer);
    } else if (!result.failures[k]) {
      result.failures[k] =
          std::make_shared<const Status>(ir::at_node(buffer.status(), program.maker_of(program.outputs[k])));
    }
  }
  return buffers;
}

std::vector<bool> fail_without_memory(const DeviceProgram& program, const std::vector<BufferPtr>& buffers,
                                      RunResult& result) {
  std::vector<bool> lost(buffers.size());
  std::transform(buffers.begin(), buffers.end(), lost.begin(),
                 [](const BufferPtr& buffer) { return buffer == nullptr; });
  const auto first = std::ranges::find(lost, true);
  if (first == lost.end()) return {};
  const auto why = result.failures[static_cast<std::size_t>(first - lost.begin())];
  auto left_out = program.lose_steps_without_memory(lost);
  for (std::size_t k = 0; k < lost.size(); ++k) {
    if (lost[k] && !result.failures[k]) result.failures[k] = why;
  }
  return left_out;
}

void publish_findings(const DeviceProgram& program, Report& report, std::span<const std::byte> found,
                      const Status& device, const Status& groups, std::optional<std::uint64_t> program_number,
                      std::uint64_t serial, const FailureSink& sink) {
  const auto& checks = program.lowered().checks;
  bool is_sound = device.ok();
  for (std::size_t c = 0; c < report.size(); ++c) {
    std::int64_t number_and_mark[2] = {};
    std::memcpy(number_and_mark, found.data() + kReportBytes * c, sizeof number_and_mark);
    const bool is_of_groups = c == checks.size();
    if (device.ok() && number_and_mark[1] == 0 && !(is_of_groups && !groups.ok())) continue;
    Status status = device;
    if (device.ok() && is_of_groups) status = failure_at(*program.collectives().front(), groups, program_number);
    if (device.ok() && !is_of_groups) {
      const auto& node = program.program().nodes[static_cast<std::size_t>(checks[c].node)];
      status = failure_at(node, checks[c].explain(number_and_mark[0]), program_number);
    }
    report.set_failure(c, std::make_shared<const Status>(std::move(status)));
    is_sound = false;
  }
  report.publish();
  for (std::size_t c = 0; !is_sound && c < report.size(); ++c) {
    if (report.failure(c)) sink(serial, report.failure(c));
  }
}

void inherit_outcomes(const DeviceProgram& program, const RunArgs& args, const std::shared_ptr<Report>& report,
                      RunResult& result) {
  std::vector<const Outcome*> of_inputs(args.inputs.size());
  std::ranges::transform(args.inputs, of_inputs.begin(),
                         [](const BufferPtr& input) { return device_buffer(input).outcome.get(); });
  OutcomePropagation propagation(of_inputs, report);
  for (std::size_t k = 0; k < result.outputs.size(); ++k) {
    if (result.outputs[k] && program.lowered().outputs[k].shares_input < 0)
      device_buffer(result.outputs[k]).outcome = propagation.of(program.inputs_of(k), program.checks_of(k));
  }
}

}  // namespace burn::backends
