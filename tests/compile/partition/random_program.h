// Programs made up at random whose numbers are whole and small: sums are exact in any order, so that what members
// compute together must be what one device computes, bit by bit.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compile/partition/layout.h"
#include "tests/reference/interpreter.h"

namespace burn::testing {

struct RandomPartition {
  ir::Program program;
  std::vector<reference::Tensor> inputs;
  int members = 2;
  std::vector<compile::partition::Layout> layouts;                // of the inputs
  std::vector<std::optional<compile::partition::Layout>> wanted;  // of the outputs
  // The same on a mesh of two axes.
  compile::partition::Mesh mesh;
  std::vector<compile::partition::MeshLayout> mesh_layouts;
  std::vector<std::optional<compile::partition::MeshLayout>> mesh_wanted;
};

// 10 to 40 nodes of most kinds, of f64, i64 and bool, over dims of up to 12, for 2 to 4 members; some inputs and wanted
// outputs are split, by bounds that may be uneven and leave members without a part.
RandomPartition random_partition(std::uint32_t seed);

}  // namespace burn::testing
