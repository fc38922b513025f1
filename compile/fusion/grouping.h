// What the passes of fuse.h work on: groups as they grow. Not for others.
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
  std::vector<Group> groups;           // one without members has become a part of another one
  std::vector<std::int32_t> group_of;  // per node
};

// A node with a number for each element, made of those at the same place.
bool is_elementwise(const ir::Op& op);

// The number of trailing elements that a reduction over `axes` combines, or nothing if it combines others as well.
std::optional<std::int64_t> trailing_size(const ir::Shape& shape, const ir::Dims& axes);

}  // namespace burn::compile
