// The groups under construction that the passes of fuse.h share. Internal to compile/fusion.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compile/fusion/group.h"

namespace burn::compile {

struct Grouping {
  static constexpr std::int32_t kNone = -1;

  explicit Grouping(const ir::Program& of) : program(of), group_of(of.nodes.size(), kNone) {}

  const ir::Node& node(std::int32_t n) const { return program.nodes[static_cast<std::size_t>(n)]; }
  std::int32_t& of(std::int32_t n) { return group_of[static_cast<std::size_t>(n)]; }
  std::int32_t of(std::int32_t n) const { return group_of[static_cast<std::size_t>(n)]; }
  Group& group(std::int32_t index) { return groups[static_cast<std::size_t>(index)]; }
  const Group& group(std::int32_t index) const { return groups[static_cast<std::size_t>(index)]; }

  const ir::Program& program;
  std::vector<Group> groups;           // a group without members has been merged into another one
  std::vector<std::int32_t> group_of;  // per node
};

// Whether each element of the op's result depends only on the operands' elements at the same index.
bool is_elementwise(const ir::Op& op);

// The number of trailing elements that a reduction over `axes` combines; std::nullopt if it combines others as well.
std::optional<std::int64_t> trailing_size(const ir::Shape& shape, const ir::Dims& axes);

}  // namespace burn::compile
