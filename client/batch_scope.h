// A scope in which what is uploaded belongs to a batch: an axis of it has one element for each item.
//
//   const BatchScope scope;                                        // axis 0
//   const auto images = Tensor<3>::from_data(pixels, device);      // [batch, 28, 28]
//   const auto targets = Tensor<1, Int>::from_data(labels, device);
//
// A router splits such tensors over its workers, and with them what is computed from them. On a worker, or in this
// process, a scope changes nothing, and results are the same everywhere. Loaders have such a scope around each call of
// their batcher. docs/router.md has the whole.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/types/shape.h"

namespace burn {

// From here to the end of the block, on this thread. Scopes nest: the innermost one counts. Ended by the thread that
// began it, in the opposite order.
class BatchScope {
 public:
  // Negative axes count from the end. nullopt: what is uploaded belongs to no batch, as outside of any scope, such as a
  // table or a mask that all items share.
  [[nodiscard]] explicit BatchScope(std::optional<int> axis = 0) : outer_(active_) { active_ = axis; }
  ~BatchScope() { active_ = outer_; }
  BatchScope(const BatchScope&) = delete;
  BatchScope& operator=(const BatchScope&) = delete;

  // The axis along which an upload of that shape on this thread has the items of a batch; nullopt outside of any scope,
  // and for a shape that does not have the scope's axis, such as that of a scalar.
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
