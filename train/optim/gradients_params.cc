#include "train/optim/gradients_params.h"

#include "client/ops/ops.h"
#include "train/optim/visit_slots.h"

namespace burn::optim {

GradientsParams GradientsParams::from_grads(Gradients gradients, const nn::detail::Walk& module) {
  GradientsParams result;
  detail::visit_slots(module, [&](Slot& slot) {
    if (!slot.is_trainable()) return;
    if (auto gradient = gradients.remove(slot.value)) result.by_id_[slot.id] = gradient->inner();
  });
  // An argument lives until the end of the caller's expression, which may contain the step: whatever is still held then
  // would have to be computed.
  gradients = {};
  return result;
}

std::optional<client::Value> GradientsParams::get(ParamId id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? std::nullopt : std::optional{found->second};
}

std::optional<client::Value> GradientsParams::remove(ParamId id) {
  auto node = by_id_.extract(id);
  return node.empty() ? std::nullopt : std::optional{std::move(node.mapped())};
}

void GradientsAccumulator::accumulate(GradientsParams gradients) {
  for (auto& [id, gradient] : gradients.by_id_) {
    auto& sum = sum_.by_id_[id];
    sum = sum.has_value() ? client::pointwise(ir::PointwiseFn::add, sum, gradient, {}) : std::move(gradient);
  }
  gradients.clear();
}

}  // namespace burn::optim
