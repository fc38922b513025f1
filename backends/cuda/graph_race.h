// One or two graphs that do the same: both are launched in turn and timed until it is known which is the faster.
#pragma once

#include <array>

#include "backends/cuda/driver.h"

namespace burn::backends::cuda {

// Branches use a GPU better that one kernel does not fill, and cost something where they meet: nobody knows which is
// more before it has run. Runs are real ones, as what updates in place cannot be done twice. Of one thread at a time.
class GraphRace {
 public:
  GraphRace() = default;
  GraphRace(const GraphRace&) = delete;
  GraphRace& operator=(const GraphRace&) = delete;
  ~GraphRace();

  // Takes the graph over. Requires: at most two, all before the first launch.
  void add(CUgraphExec graph);
  // One of them. Not waited for, also not to time it.
  Status launch(CUstream stream);

 private:
  static constexpr int kTimes = 12;  // that each is timed

  struct Runner {
    CUgraphExec graph = nullptr;
    CUevent begin = nullptr, end = nullptr;
    bool is_running = false;  // between the events
    int times = 0;
    float best = 0;  // ms
  };

  Status launch_timed(Runner& runner, CUstream stream);
  // Looks at the clock of a run that is over.
  static Status collect(Runner& runner);
  void drop(Runner& runner);

  std::array<Runner, 2> runners_;
  int first_ = 0, count_ = 0;
  unsigned turn_ = 0;
};

}  // namespace burn::backends::cuda
