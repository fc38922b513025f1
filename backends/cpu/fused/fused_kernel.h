// Runs a fused group tile by tile, on several threads.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backends/cpu/fused/tile_code.h"
#include "backends/cpu/fused/tile_runner.h"
#include "backends/cpu/runtime/run.h"

namespace burn::backends::cpu {

// A group bound to its arrays, ready to run. Refers to its kernel and to the reads that it was bound to.
struct BoundGroup {
  TileRunner runner;
  std::vector<Array> results;  // in the order of the step's results
};

// Thread-safe.
class FusedKernel {
 public:
  FusedKernel(std::shared_ptr<const TileCode> code, std::vector<ir::TensorType> results)
      : code_(std::move(code)), result_types_(std::move(results)) {}

  // The reads belong to the kernel, as a Kernel's operands do. Errors: RESOURCE_EXHAUSTED, OUT_OF_RANGE; *failed_member
  // is then the member of the group that failed. After a failure the reads are unchanged.
  Result<BoundGroup> bind(Run& run, std::span<Array> reads, std::int32_t* failed_member) const;
  std::size_t memory_bytes() const;  // includes its share of code that several kernels use
  const TileCode& code() const { return *code_; }

 private:
  std::shared_ptr<const TileCode> code_;
  std::vector<ir::TensorType> result_types_;
};

// Runs groups that do not read each other's results in one pass over the threads: many small updates cost one launch.
void run_together(std::span<BoundGroup> groups);

}  // namespace burn::backends::cpu
