// A scope in which uploaded tensors belong to a batch: one of their axes has one element for each item.
//
//   const BatchScope scope;                                        // axis 0
//   const auto images = Tensor<3>::from_data(pixels, device);      // [batch, 28, 28]
//   const auto targets = Tensor<1, Int>::from_data(labels, device);
//
// A router splits such tensors, and the values computed from them, over its workers. On a worker, or in this process, a
// scope changes nothing; results are the same everywhere. Loaders call their batcher within such a scope. Details:
// docs/router.md.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/types/shape.h"

namespace burn {

// Active from its construction to the end of the block, on this thread. Scopes nest: the innermost one counts.
// Requires: destroyed by the thread that constructed it, in reverse order of construction.
class BatchScope {
 public:
  // Negative axes count from the end. nullopt: uploaded tensors belong to no batch, as outside of any scope; for a
  // table or a mask that all items share.
  [[nodiscard]] explicit BatchScope(std::optional<int> axis = 0) : outer_(active_) { active_ = axis; }
  ~BatchScope() { active_ = outer_; }
  BatchScope(const BatchScope&) = delete;
  BatchScope& operator=(const BatchScope&) = delete;

  // The batch axis of an upload of that shape on this thread; nullopt outside of any scope, and for a shape without the
  // scope's axis, such as that of a scalar.
  static std::optional<std::int32_t> axis_of(const ir::Shape& shape) {
    if (!active_) return std::nullopt;
    const int axis = *active_ < 0 ? *active_ + shape.rank() : *active_;
    return axis >= 0 && axis < shape.rank() ? std::optional<std::int32_t>{axis} : std::nullopt;
  }

 private:
  static inline constinit thread_local std::optional<int> active_{};
  const std::optional<int> outer_;
};

}  // namespace burn
