#include "backends/cuda/graph_race.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "base/settings.h"

namespace burn::backends::cuda {

GraphRace::~GraphRace() {
  for (auto& runner : runners_) drop(runner);
}

void GraphRace::add(CUgraphExec graph) {
  assert(count_ < 2);
  runners_[static_cast<std::size_t>(count_++)].graph = graph;
}

Status GraphRace::launch(CUstream stream) {
  if (count_ == 1) {
    return check(driver().cuGraphLaunch(runners_[static_cast<std::size_t>(first_)].graph, stream), "cuGraphLaunch");
  }
  for (auto& runner : runners_) BURN_RETURN_IF_ERROR(collect(runner));
  if (std::ranges::all_of(runners_, [](const Runner& runner) { return runner.times == kTimes; })) {
    first_ = runners_[1].best < runners_[0].best ? 1 : 0;
    count_ = 1;
    if (setting(Setting::trace).find("plan") != std::string::npos)
      fmt::print(stderr, "graph: {:.1f} us and {:.1f} us\n", 1e3 * runners_[0].best, 1e3 * runners_[1].best);
    drop(runners_[static_cast<std::size_t>(1 - first_)]);
    return launch(stream);
  }
  return launch_timed(runners_[turn_++ % 2], stream);
}

Status GraphRace::launch_timed(Runner& runner, CUstream stream) {
  const auto& cuda = driver();
  const bool is_timed = !runner.is_running && runner.times < kTimes;
  if (is_timed) {
    if (!runner.begin)
      BURN_RETURN_IF_ERROR(check(cuda.cuEventCreate(&runner.begin, CU_EVENT_DEFAULT), "cuEventCreate"));
    if (!runner.end) BURN_RETURN_IF_ERROR(check(cuda.cuEventCreate(&runner.end, CU_EVENT_DEFAULT), "cuEventCreate"));
    BURN_RETURN_IF_ERROR(check(cuda.cuEventRecord(runner.begin, stream), "cuEventRecord"));
  }
  BURN_RETURN_IF_ERROR(check(cuda.cuGraphLaunch(runner.graph, stream), "cuGraphLaunch"));
  if (!is_timed) return {};
  BURN_RETURN_IF_ERROR(check(cuda.cuEventRecord(runner.end, stream), "cuEventRecord"));
  runner.is_running = true;
  return {};
}

Status GraphRace::collect(Runner& runner) {
  if (!runner.is_running) return {};
  const auto answer = driver().cuEventQuery(runner.end);
  if (answer == CUDA_ERROR_NOT_READY) return {};
  BURN_RETURN_IF_ERROR(check(answer, "a run of a graph"));
  float elapsed = 0;
  BURN_RETURN_IF_ERROR(check(driver().cuEventElapsedTime(&elapsed, runner.begin, runner.end), "cuEventElapsedTime"));
  runner.best = runner.times == 0 ? elapsed : std::min(runner.best, elapsed);
  ++runner.times;
  runner.is_running = false;
  return {};
}

void GraphRace::drop(Runner& runner) {
  if (runner.begin) driver().cuEventDestroy(runner.begin);
  if (runner.end) driver().cuEventDestroy(runner.end);
  if (runner.graph) driver().cuGraphExecDestroy(runner.graph);
  runner = {};
}

}  // namespace burn::backends::cuda
