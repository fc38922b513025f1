// Views as lines along one axis, for kernels in which a thread goes through a line.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "compile/codegen/kernels/arguments.h"
#include "compile/codegen/kernels/walk.h"

namespace burn::compile::kernels {

// Views whose shapes are the same but along the axis. A walk over all dims but the axis, and what is along it.
template <std::size_t kViews>
struct Lines {
  LoopDims walk;
  std::int64_t count = 1;                  // of lines
  std::array<std::int64_t, kViews> steps;  // from an element to the next one along the axis
  std::array<std::int64_t, kViews> sizes;  // elements along the axis
};

template <std::size_t kViews>
Lines<kViews> lines_of(const std::array<const View*, kViews>& views, int axis) {
  Lines<kViews> lines;
  std::vector<std::int64_t> sizes;
  std::vector<std::vector<std::int64_t>> strides(kViews);
  for (int d = 0; d < views[0]->rank(); ++d) {
    if (d == axis) continue;
    sizes.push_back(views[0]->shape[d]);
    lines.count *= views[0]->shape[d];
    for (std::size_t k = 0; k < kViews; ++k) strides[k].push_back(views[k]->strides[d]);
  }
  for (std::size_t k = 0; k < kViews; ++k) {
    lines.steps[k] = views[k]->strides[axis];
    lines.sizes[k] = views[k]->shape[axis];
  }
  lines.walk = merge_dims(sizes, strides);
  return lines;
}

// The type that places in all of these views, and so many threads, are counted in.
template <std::size_t kViews>
ir::DType index_of(const std::array<const View*, kViews>& views, std::int64_t threads) {
  for (const auto* view : views) threads = std::max(threads, reach(*view));
  return index_type(threads);
}

// As what elements are loaded that are compared: bool as a number.
inline ir::DType number_type(ir::DType dtype) { return dtype == ir::DType::bool_ ? ir::DType::u8 : dtype; }

}  // namespace burn::compile::kernels
