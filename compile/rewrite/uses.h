// How often the values of a program are used.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ir/program.h"

namespace burn::compile {

// Per value: how many operands of nodes and outputs of the program refer to it.
inline std::vector<std::int32_t> count_uses(const ir::Program& program) {
  std::vector<std::int32_t> uses(program.values.size());
  const auto use = [&](ir::Ref ref) {
    if (!ref.is_input()) ++uses[static_cast<std::size_t>(ref.index())];
  };
  for (const auto& node : program.nodes) std::ranges::for_each(program.operands_of(node), use);
  std::ranges::for_each(program.outputs, use);
  return uses;
}

}  // namespace burn::compile
