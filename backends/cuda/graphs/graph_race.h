// Ways to do the same, by graphs or command by command: all are run in turn and timed until it is known which is the
// fastest.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "backends/cuda/driver/driver.h"

namespace burn::backends::cuda {

// Branches use a GPU better that one kernel does not fill, and cost something where they meet; a graph of a few long
// kernels costs more around it than it saves between them: nobody knows which is more before it has run. Runs are real
// ones, as what updates in place cannot be done twice. Of one thread at a time.
class GraphRace {
 public:
  GraphRace() = default;
  GraphRace(const GraphRace&) = delete;
  GraphRace& operator=(const GraphRace&) = delete;
  ~GraphRace();

  // Enqueues a run with the graph; null: without one.
  using Run = std::function<Status(CUgraphExec graph)>;

  // One way more. Takes the graph over. Requires: nothing has run yet.
  void add(CUgraphExec graph) { runners_.push_back({.graph = graph}); }
  // By one of the ways. Not waited for, also not to time it. Requires: there is one.
  Status enqueue(CUstream stream, const Run& run);
  // Whether it is known that runs are faster without a graph.
  bool needs_no_graph() const { return runners_.size() == 1 && !runners_.front().graph; }

 private:
  static constexpr std::size_t kTimes = 12;  // that each is timed

  struct Runner {
    CUgraphExec graph = nullptr;
    CUevent begin = nullptr, end = nullptr;
    bool is_running = false;  // between the events
    std::size_t times = 0;
    std::array<float, kTimes> ms{};  // in order in the end
  };

  Status enqueue_timed(Runner& runner, CUstream stream, const Run& run);
  // Looks at the clock of a run that is over.
  static Status collect(Runner& runner);
  static void drop(Runner& runner);

  std::vector<Runner> runners_;
  std::size_t turn_ = 0;
};

}  // namespace burn::backends::cuda
