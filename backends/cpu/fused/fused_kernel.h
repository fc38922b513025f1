// Runs a fused group: tile by tile, on several threads.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backends/cpu/fused/tile_code.h"
#include "backends/cpu/fused/tile_runner.h"
#include "backends/cpu/runtime/run.h"

namespace burn::backends::cpu {

// A group with its arrays, ready to run. Refers to its kernel and to the reads it was bound to.
struct BoundGroup {
  TileRunner runner;
  std::vector<Array> results;  // in the order of the step's
};

// Thread-safe.
class FusedKernel {
 public:
  FusedKernel(std::shared_ptr<const TileCode> code, std::vector<ir::TensorType> results)
      : code_(std::move(code)), result_types_(std::move(results)) {}

  // The reads are the kernel's own, as a Kernel's operands are. Errors: RESOURCE_EXHAUSTED, OUT_OF_RANGE; they belong
  // to a member of the group, *failed_member. After a failure the reads are as they were.
  Result<BoundGroup> bind(Run& run, std::span<Array> reads, std::int32_t* failed_member) const;
  std::size_t memory_bytes() const;  // with a part of the code, where several share it
  const TileCode& code() const { return *code_; }

 private:
  std::shared_ptr<const TileCode> code_;
  std::vector<ir::TensorType> result_types_;
};

// Groups that do not read each other's results, in one pass over the threads: many small updates cost one launch.
void run_together(std::span<BoundGroup> groups);

}  // namespace burn::backends::cpu
