#include "backends/cuda/graphs/graph_race.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/settings.h"

namespace burn::backends::cuda {

GraphRace::~GraphRace() {
  for (auto& runner : runners_) drop(runner);
}

Status GraphRace::enqueue(CUstream stream, const Run& run) {
  if (runners_.size() == 1) return run(runners_.front().graph);
  for (auto& runner : runners_) BURN_RETURN_IF_ERROR(collect(runner));
  if (std::ranges::all_of(runners_, [](const Runner& runner) { return runner.times == kTimes; })) {
    // The median: a run that is queued behind others hides its launch time.
    const auto median = [](const Runner& runner) { return runner.ms[kTimes / 2]; };
    for (auto& runner : runners_) std::ranges::sort(runner.ms);
    std::ranges::stable_sort(runners_, {}, median);
    if (setting(Setting::trace).find("plan") != std::string::npos) {
      std::string times;
      for (const auto& runner : runners_)
        times += fmt::format(" {:.1f} us{}", 1e3 * median(runner), runner.graph ? "" : " without");
      fmt::print(stderr, "graph:{}\n", times);
    }
    std::for_each(runners_.begin() + 1, runners_.end(), drop);
    runners_.resize(1);
    return run(runners_.front().graph);
  }
  return enqueue_timed(runners_[turn_++ % runners_.size()], stream, run);
}

Status GraphRace::enqueue_timed(Runner& runner, CUstream stream, const Run& run) {
  const auto& cuda = driver();
  const bool is_timed = !runner.is_running && runner.times < kTimes;
  if (is_timed) {
    if (!runner.begin)
      BURN_RETURN_IF_ERROR(check(cuda.cuEventCreate(&runner.begin, CU_EVENT_DEFAULT), "cuEventCreate"));
    if (!runner.end) BURN_RETURN_IF_ERROR(check(cuda.cuEventCreate(&runner.end, CU_EVENT_DEFAULT), "cuEventCreate"));
    BURN_RETURN_IF_ERROR(check(cuda.cuEventRecord(runner.begin, stream), "cuEventRecord"));
  }
  BURN_RETURN_IF_ERROR(run(runner.graph));
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
  BURN_RETURN_IF_ERROR(
      check(driver().cuEventElapsedTime(&runner.ms[runner.times], runner.begin, runner.end), "cuEventElapsedTime"));
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
