#include "compile/codegen/operands.h"

#include <algorithm>

namespace burn::compile {

bool LoopDims::is_linear() const {
  return rank() == 1 && std::ranges::all_of(strides, [](const auto& of) { return of[0] == 1; });
}

bool LoopDims::is_narrow() const {
  constexpr double kMax = 2147483648.0;
  double positions = 1;
  for (const auto size : sizes) positions *= static_cast<double>(size);
  return positions < kMax && std::ranges::all_of(strides, [&](const auto& of) {
           double end = 0;
           for (std::size_t d = 0; d < sizes.size(); ++d) {
             if (of[d] < 0) return false;
             end += static_cast<double>(sizes[d]) * static_cast<double>(of[d]);
           }
           return end < kMax;
         });
}

LoopDims merge_dims(std::span<const std::int64_t> sizes, const std::vector<std::vector<std::int64_t>>& strides) {
  LoopDims plan;
  plan.strides.resize(strides.size());
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    const bool joins = !plan.sizes.empty() && [&] {
      for (std::size_t k = 0; k < strides.size(); ++k) {
        if (plan.strides[k].back() != strides[k][d] * sizes[d]) return false;
      }
      return true;
    }();
    if (joins) {
      plan.sizes.back() *= sizes[d];
      for (std::size_t k = 0; k < strides.size(); ++k) plan.strides[k].back() = strides[k][d];
    } else {
      plan.sizes.push_back(sizes[d]);
      for (std::size_t k = 0; k < strides.size(); ++k) plan.strides[k].push_back(strides[k][d]);
    }
  }
  if (plan.sizes.empty()) {
    plan.sizes.push_back(1);
    for (auto& of : plan.strides) of.push_back(1);
  }
  return plan;
}

int vector_width(const LoopDims& walk, std::span<const View> views, int most) {
  const auto fits = [&](int width) {
    const auto last = static_cast<std::size_t>(walk.rank() - 1);
    // A linear walk's rest is done one by one; rows must end with a whole vector.
    if (!walk.is_linear() && walk.sizes[last] % width != 0) return false;
    for (std::size_t k = 0; k < views.size(); ++k) {
      const auto& strides = walk.strides[k];
      if (strides[last] == 0) continue;
      if (strides[last] != 1) return false;
      const auto size = static_cast<std::int64_t>(ir::size_of(views[k].dtype));
      if (views[k].address.offset % (size * width) != 0) return false;
      for (std::size_t d = 0; d < last; ++d) {
        if (strides[d] % width != 0) return false;
      }
    }
    return true;
  };
  std::size_t widest = 1;
  for (std::size_t k = 0; k < views.size(); ++k) {
    if (walk.strides[k].back() != 0) widest = std::max(widest, ir::size_of(views[k].dtype));
  }
  for (int width = std::min(most, static_cast<int>(16 / widest)); width > 1; width /= 2) {
    if (fits(width)) return width;
  }
  return 1;
}

}  // namespace burn::compile
