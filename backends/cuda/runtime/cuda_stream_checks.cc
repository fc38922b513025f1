// Failures that the device finds during a run: invalid indices, singular matrices, a group that has ended.
#include "backends/cuda/runtime/cuda_stream.h"
#include "backends/gpu/device_run.h"

namespace burn::backends::cuda {

void CudaStream::watch_checks(const std::shared_ptr<Executable>& executable, const RunArgs& args, RunResult& result,
                              std::shared_ptr<PinnedBlock> found, std::shared_ptr<RunInGroups> in_groups) {
  const auto& program = static_cast<const CudaExecutable&>(*executable);
  std::shared_ptr<Report> report;
  if (program.findings() > 0) {
    report = std::make_shared<Report>(program.findings(), found);
    completions_.add([report, found = std::move(found), executable, run_of = args.program, sink = sink_,
                      serial = args.serial, in_groups = std::move(in_groups)](const Status& device) {
      publish_findings(static_cast<const CudaExecutable&>(*executable), *report, found->bytes(), device,
                       in_groups ? in_groups->end() : Status{}, run_of, serial, sink);
    });
  }
  inherit_outcomes(program, args, report, result);
}

}  // namespace burn::backends::cuda
