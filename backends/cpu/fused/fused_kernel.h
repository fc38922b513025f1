// Runs a fused group: tile by tile, on several threads.
#pragma once

#include <span>
#include <vector>

#include "backends/cpu/fused/tile_code.h"
#include "backends/cpu/run.h"

namespace burn::backends::cpu {

// Thread-safe.
class FusedKernel {
 public:
  explicit FusedKernel(TileCode code, std::vector<ir::TensorType> results)
      : code_(std::move(code)), result_types_(std::move(results)) {}

  // The results, in the order of the step's. The reads are the kernel's own, as a Kernel's operands are.
  // Errors: RESOURCE_EXHAUSTED, OUT_OF_RANGE; they belong to *failed_node.
  Result<std::vector<Array>> run(Run& run, std::span<Array> reads, std::int32_t* failed_node) const;

 private:
  TileCode code_;
  std::vector<ir::TensorType> result_types_;
};

}  // namespace burn::backends::cpu
