// The distinct layouts of a session's values, numbered, so that a run compares numbers instead of bounds.
#pragma once

#include <cstdint>
#include <vector>

#include "compile/partition/layout.h"

namespace burn::router {

using compile::partition::Layout;
using compile::partition::Mesh;
using compile::partition::MeshLayout;

// A number for a layout; equal layouts have equal numbers.
using LayoutId = std::uint32_t;
inline constexpr LayoutId kWhole = 0;  // the whole value is on every member

class Layouts {
 public:
  Layouts() : layouts_{MeshLayout{}} {}

  LayoutId id_of(const MeshLayout& layout) {
    for (LayoutId id = 0; id < layouts_.size(); ++id) {
      if (layouts_[id] == layout) return id;
    }
    layouts_.push_back(layout);
    return static_cast<LayoutId>(layouts_.size() - 1);
  }
  const MeshLayout& operator[](LayoutId id) const { return layouts_[id]; }
  std::size_t size() const { return layouts_.size(); }

 private:
  std::vector<MeshLayout> layouts_;
};

}  // namespace burn::router
