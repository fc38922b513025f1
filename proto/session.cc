#include "proto/session.h"

#include <fmt/format.h>

namespace burn::proto {

Status check_batch_axis(const WriteOptions& options, const ir::TensorType& type) {
  const auto axis = options.batch_axis;
  if (!axis || (*axis >= 0 && *axis < type.shape.rank())) return {};
  return invalid_argument(
      fmt::format("write: batch axis {} of {}, which has {} axes", *axis, ir::to_string(type), type.shape.rank()));
}

}  // namespace burn::proto
