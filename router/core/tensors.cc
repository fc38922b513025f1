#include "router/core/tensors.h"

#include <algorithm>

namespace burn::router {

void Tensors::poison(proto::TensorId first, std::uint64_t count, const Failure& why) {
  for (std::uint64_t begin = 0; begin < count;) {
    auto end = begin;
    while (end < count && !is_known(first + end)) ++end;
    if (end > begin) poisoned_.add(first + begin, end - begin, why);
    begin = end + 1;
  }
}

bool Tensors::drop(proto::TensorId id) {
  if (tensors_.erase(id) > 0) return true;
  poisoned_.remove(id);
  return false;
}

std::vector<proto::TensorId> Tensors::ids() const {
  std::vector<proto::TensorId> ids;
  ids.reserve(tensors_.size());
  for (const auto& [id, tensor] : tensors_) ids.push_back(id);
  std::ranges::sort(ids);
  return ids;
}

}  // namespace burn::router
