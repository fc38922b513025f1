// Several ways to execute the same run, by graphs or command by command: all are used in turn and timed until the
// fastest one is known.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "backends/cuda/driver/driver.h"

namespace burn::backends::cuda {

// Branches fill a GPU better if one kernel does not, but synchronizing them costs time; launching a graph of a few long
// kernels costs more than it saves between them: which is faster is known only by measurement. The real runs are timed,
// as a run that updates in place cannot be repeated. Used by one thread at a time.
class GraphRace {
 public:
  GraphRace() = default;
  GraphRace(const GraphRace&) = delete;
  GraphRace& operator=(const GraphRace&) = delete;
  ~GraphRace();

  // Enqueues a run by the graph; null: command by command.
  using Run = std::function<Status(CUgraphExec graph)>;

  // Adds a way, and takes ownership of the graph. Requires: nothing has run yet.
  void add(CUgraphExec graph) { runners_.push_back({.graph = graph}); }
  // Enqueues a run by one of the ways. Never waits for the device, not even to time it. Requires: there is a way.
  Status enqueue(CUstream stream, const Run& run);
  // Whether running without a graph has been found to be faster.
  bool needs_no_graph() const { return runners_.size() == 1 && !runners_.front().graph; }

 private:
  static constexpr std::size_t kTimes = 12;  // timed runs of each way

  struct Runner {
    CUgraphExec graph = nullptr;
    CUevent begin = nullptr, end = nullptr;
    bool is_running = false;  // enqueued, and its time not read yet
    std::size_t times = 0;
    std::array<float, kTimes> ms{};  // sorted once all are measured
  };

  Status enqueue_timed(Runner& runner, CUstream stream, const Run& run);
  // Reads the time of a run if it is done.
  static Status collect(Runner& runner);
  static void drop(Runner& runner);

  std::vector<Runner> runners_;
  std::size_t turn_ = 0;
};

}  // namespace burn::backends::cuda
