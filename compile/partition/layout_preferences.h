// How values had best lie, whatever they are computed from: as a Place says, or as the state does that they become.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compile/partition/facts.h"
#include "compile/partition/layout.h"

namespace burn::compile::partition {

// Whether a node computes each element from those at the same place.
bool is_by_element(const ir::Op& op);

class LayoutPreferences {
 public:
  // `program` and `facts` outlive it. `inputs`: their layouts along the axis, which has so many members.
  LayoutPreferences(const ir::Program& program, const Facts& facts, std::vector<Layout> inputs, int members);

  // How a value lies for its own sake: as a Place says, else as the input that it stands for, and state that is new
  // whole. Nothing: it may lie in any way.
  std::optional<Layout> fixed(std::size_t value) const;
  // How the state lies that is computed from the value element by element. Sums over members then end in a part for
  // each, where they would else end in all of it everywhere.
  const std::optional<Layout>& hint(std::size_t value) const { return hints_[value]; }
  // As an input is split along a dim of that size, if one is; else evenly.
  Bounds bounds_for(std::int64_t size) const;

 private:
  void find_hints();

  const ir::Program& program_;
  const Facts& facts_;
  const std::vector<Layout> inputs_;
  const int members_;
  std::vector<std::optional<Layout>> hints_;  // of values
};

}  // namespace burn::compile::partition
