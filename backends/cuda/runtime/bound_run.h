// A program's commands bound to the memory of one run: their addresses, and which command has to wait for which.
#pragma once

#include <span>
#include <vector>

#include "backends/cuda/driver/compile_names.h"
#include "backends/cuda/graphs/graphs.h"
#include "compile/lower/hazards.h"

namespace burn::backends::cuda {

// Refers to the program and the memory, which must outlive it.
class BoundRun {
 public:
  BoundRun(const Lowered& lowered, const RunMemory& memory);
  BoundRun(const BoundRun&) = delete;
  BoundRun& operator=(const BoundRun&) = delete;

  const Bindings& bindings() const { return bindings_; }
  // The memory that each command reads and writes.
  std::vector<std::vector<compile::MemoryUse>> uses() const;

 private:
  compile::MemoryUse whole(const Use& use) const;

  const Lowered& lowered_;
  const RunMemory& memory_;
  std::vector<CUdeviceptr> inputs_, outputs_;
  Bindings bindings_;
};

// Captures the run as a graph in which commands wait only for those that they depend on. Null if each depends on the
// previous one, and if the driver or a command cannot be captured so (BURN_TRACE=plan prints the reason): a chain does
// the same. The caller must destroy the graph.
CUgraphExec capture_run_branches(const Lowered& lowered, std::span<const Kernel> kernels, const RunMemory& memory,
                                 CUstream stream);

}  // namespace burn::backends::cuda
