// What a backend counts that has the driver launch programs as graphs. A backend which does so also derives from
// CountsGraphs; whatever shows the counts finds that by dynamic_cast from its Backend.
#pragma once

#include <cstdint>

namespace burn::backends {

struct GraphCounts {
  std::uint64_t captures = 0;  // programs whose commands were recorded as a graph, again for other memory
  std::uint64_t launches = 0;  // runs that were launched as one
};

class CountsGraphs {
 public:
  CountsGraphs() = default;
  CountsGraphs(const CountsGraphs&) = delete;
  CountsGraphs& operator=(const CountsGraphs&) = delete;
  virtual ~CountsGraphs() = default;
  virtual GraphCounts graph_counts() const = 0;  // from any thread
};

}  // namespace burn::backends
