// What the device finds out while it does a run: indices that are none, singular matrices, a group that has ended.
#include <cstring>

#include <fmt/format.h>

#include "backends/cuda/runtime/cuda_stream.h"
#include "backends/failures.h"
#include "ir/node_errors.h"

namespace burn::backends::cuda {
namespace {

// Of what a check found. The last one may be that of the run's groups, which was told why.
Status failure_of(const CudaExecutable& executable, std::size_t check, std::int64_t found, const Status& groups,
                  std::optional<std::uint64_t> run_of) {
  const auto& checks = executable.lowered().checks;
  const bool is_of_groups = check == checks.size();
  const auto& node = is_of_groups ? *executable.collectives().front()
                                  : executable.program().nodes[static_cast<std::size_t>(checks[check].node)];
  const auto status =
      ir::at_node(is_of_groups ? groups : checks[check].explain(found), ir::called_name(node), to_string(node.site));
  return run_of ? status.with_context(fmt::format("program {}", *run_of)) : status;
}

}  // namespace

void CudaStream::watch_checks(const std::shared_ptr<Executable>& executable, const RunArgs& args, RunResult& result,
                              std::shared_ptr<PinnedBlock> found, std::shared_ptr<RunInGroups> in_groups) {
  const auto& program = static_cast<const CudaExecutable&>(*executable);
  std::shared_ptr<Report> report;
  if (program.findings() > 0) {
    report = std::make_shared<Report>(program.findings(), found);
    completions_.add([report, found = std::move(found), executable, run_of = args.program, sink = sink_,
                      serial = args.serial, in_groups = std::move(in_groups)](const Status& device) {
      const auto& made_of = static_cast<const CudaExecutable&>(*executable);
      const auto groups = in_groups ? in_groups->end() : Status{};
      bool is_sound = device.ok();
      for (std::size_t c = 0; c < report->size(); ++c) {
        std::int64_t index_and_flag[2] = {};
        std::memcpy(index_and_flag, found->bytes().data() + kReportBytes * c, sizeof index_and_flag);
        const bool is_of_groups = c == made_of.lowered().checks.size();
        if (device.ok() && index_and_flag[1] == 0 && !(is_of_groups && !groups.ok())) continue;
        auto status = device.ok() ? failure_of(made_of, c, index_and_flag[0], groups, run_of) : device;
        report->set_failure(c, std::make_shared<const Status>(std::move(status)));
        is_sound = false;
      }
      report->publish();
      for (std::size_t c = 0; !is_sound && c < report->size(); ++c) {
        if (report->failure(c)) sink(serial, report->failure(c));
      }
    });
  }
  inherit_outcomes(program, args, report, result);
}

void CudaStream::inherit_outcomes(const CudaExecutable& executable, const RunArgs& args,
                                  const std::shared_ptr<Report>& report, RunResult& result) {
  std::vector<const Outcome*> of_inputs(args.inputs.size());
  std::ranges::transform(args.inputs, of_inputs.begin(),
                         [](const BufferPtr& input) { return cuda(input).outcome.get(); });
  Inheritance inheritance(of_inputs, report);
  for (std::size_t k = 0; k < result.outputs.size(); ++k) {
    if (result.outputs[k] && executable.lowered().outputs[k].shares_input < 0)
      cuda(result.outputs[k]).outcome = inheritance.of(executable.inputs_of(k), executable.checks_of(k));
  }
}

}  // namespace burn::backends::cuda
