#include "session/run_spans.h"

#include <string>

#include "ir/op.h"

namespace burn::session {

std::vector<Span> run_spans(const TraceContext& trace, const RunDurations& times, std::string_view device,
                            const serving::TenantAccount* tenant, const ir::Program* program, const Status& status) {
  using std::chrono::system_clock;
  const auto after = [](system_clock::time_point time, std::chrono::nanoseconds passed) {
    return time + std::chrono::duration_cast<system_clock::duration>(passed);
  };
  const auto end = system_clock::now(), begin = after(end, -times.took), received = after(begin, -times.queued);
  Span run{.trace = trace,
           .id = new_span_id(),
           .kind = Span::Kind::server,
           .name = "run",
           .begin = received,
           .end = end,
           .result = status.code()};
  run.attributes.push_back({"burn.device", std::string{device}});
  if (program) {
    run.attributes.push_back({"burn.program", ir::to_string(program->hash)});
    if (!program->nodes.empty())
      run.attributes.push_back({"burn.first_op", std::string{ir::name(program->nodes.front().op)}});
    run.attributes.push_back({"burn.nodes", std::uint64_t{program->nodes.size()}});
  }
  if (tenant) run.attributes.push_back({"burn.tenant", tenant->name()});
  const auto in_run = within(trace, run.id);
  Span execute{.trace = in_run, .id = new_span_id(), .name = "execute", .begin = begin, .end = end};
  execute.attributes = {{"burn.wait.inputs", times.inputs}, {"burn.wait.tenants", times.turn}};
  if (times.collectives.count() > 0) execute.attributes.push_back({"burn.collectives", times.collectives});
  std::vector<Span> spans;
  spans.push_back(std::move(run));
  spans.push_back({.trace = in_run, .id = new_span_id(), .name = "queue", .begin = received, .end = begin});
  spans.push_back(std::move(execute));
  return spans;
}

}  // namespace burn::session
