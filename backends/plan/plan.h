// What a device needs to know about a program before it runs it: which nodes matter and how long each value lives.
//
// Device-independent: the CPU reads it node by node, other devices record from it. A Plan is a value and refers to its
// program by position only.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "ir/program.h"

namespace burn::backends {

struct Plan {
  // Last uses are positions in `order`; these two are not.
  static constexpr std::int32_t kUnused = -1;
  static constexpr std::int32_t kOutput = std::numeric_limits<std::int32_t>::max();

  std::vector<std::int32_t> order;           // the nodes that an output depends on, in the program's order
  std::vector<std::int32_t> node_last_use;   // per node
  std::vector<std::int32_t> input_last_use;  // per input

  std::int32_t last_use(ir::Ref ref) const {
    const auto& uses = ref.is_input() ? input_last_use : node_last_use;
    return uses[static_cast<std::size_t>(ref.index())];
  }
};

Plan make_plan(const ir::Program& program);

}  // namespace burn::backends
