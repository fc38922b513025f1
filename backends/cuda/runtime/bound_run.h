// A program's commands with the memory of one run: what they are given, and which has to wait for which.
#pragma once

#include <span>
#include <vector>

#include "backends/cuda/compile_names.h"
#include "backends/cuda/graphs/graphs.h"
#include "compile/lower/hazards.h"

namespace burn::backends::cuda {

// Refers to the program and the memory, which have to outlive it.
class BoundRun {
 public:
  BoundRun(const Lowered& lowered, const RunMemory& memory);
  BoundRun(const BoundRun&) = delete;
  BoundRun& operator=(const BoundRun&) = delete;

  const Bindings& bindings() const { return bindings_; }
  // Per command: what it reads and writes.
  std::vector<std::vector<compile::MemoryUse>> uses() const;

 private:
  compile::MemoryUse whole(const Use& use) const;

  const Lowered& lowered_;
  const RunMemory& memory_;
  std::vector<CUdeviceptr> inputs_, outputs_;
  Bindings bindings_;
};

// The run as a graph in which commands wait for no more than they have to. Null where all wait for the one before, and
// where the driver or a command cannot be captured so (BURN_TRACE=plan says why): a chain does the same. The caller's
// to destroy.
CUgraphExec capture_run_branches(const Lowered& lowered, std::span<const Kernel> kernels, const RunMemory& memory,
                                 CUstream stream);

}  // namespace burn::backends::cuda
