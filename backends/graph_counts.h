// Counts of a backend that has the driver launch programs as graphs. Such a backend also derives from CountsGraphs;
// code that reports the counts finds the interface by dynamic_cast from the Backend.
#pragma once

#include <cstdint>

namespace burn::backends {

struct GraphCounts {
  std::uint64_t captures = 0;  // programs whose commands were recorded as a graph; counted again for other memory
  std::uint64_t launches = 0;  // runs that were launched as a graph
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
