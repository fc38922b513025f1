#include "train/optim/gradients_params.h"

#include <algorithm>
#include <string>

#include "client/fail.h"
#include "client/ops/formula.h"
#include "train/optim/site.h"
#include "train/optim/visit_slots.h"

namespace burn::optim {

GradientsParams GradientsParams::take(Gradients& gradients, const nn::detail::Walk& module,
                                      const std::vector<ParamId>* only) {
  GradientsParams result;
  detail::visit_places(module, [&](Slot& slot, bool) {
    if (!slot.is_trainable()) return;
    if (only != nullptr && std::find(only->begin(), only->end(), slot.id) == only->end()) return;
    if (auto gradient = gradients.remove(slot.value)) result.add(slot.id, gradient->inner());
  });
  return result;
}

GradientsParams GradientsParams::from_grads(Gradients gradients, const nn::detail::Walk& module,
                                            const client::Site& site) {
  GradientsParams result;
  const auto given = gradients.size();
  std::size_t trained = 0;
  detail::visit_places(module, [&](Slot& slot, bool is_first) {
    if (!slot.is_trainable()) return;
    trained += is_first ? 1 : 0;
    if (auto gradient = gradients.remove(slot.value)) result.add(slot.id, gradient->inner());
  });
  if (given > 0 && trained > 0 && result.empty()) {
    client::fail("from_grads: none of the " + std::to_string(given) + " gradients belongs to one of the " +
                     std::to_string(trained) + " parameters of this module; is the loss that of another one?",
                 site);
  }
  // An argument lives until the end of the caller's expression, which may contain the step: whatever is still held then
  // would have to be computed.
  gradients = {};
  return result;
}

// Places of one parameter are one leaf as a rule, whose gradient is complete; leaves of their own add up.
void GradientsParams::add(ParamId id, client::Value gradient) {
  auto& sum = by_id_[id];
  sum = sum.has_value() ? client::pointwise(ir::PointwiseFn::add, sum, gradient, detail::here()) : std::move(gradient);
}

std::optional<client::Value> GradientsParams::get(ParamId id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? std::nullopt : std::optional{found->second};
}

std::optional<client::Value> GradientsParams::remove(ParamId id) {
  auto node = by_id_.extract(id);
  return node.empty() ? std::nullopt : std::optional{std::move(node.mapped())};
}

std::vector<ParamId> GradientsParams::ids() const {
  std::vector<ParamId> ids;
  ids.reserve(by_id_.size());
  for (const auto& [id, gradient] : by_id_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

Tensor<1> GradientsParams::clip_norm(double limit, Loc where) {
  const detail::Calling scope{at(where)};
  using client::Term;
  if (!(limit > 0)) {
    client::fail("clip_norm: the limit is " + std::to_string(limit) + ", must be positive", detail::here());
  }
  const Autocast pause{DType::f32};
  const bool has_f64 = std::ranges::any_of(by_id_, [](const auto& of) { return of.second.dtype() == DType::f64; });
  const auto wide = has_f64 ? DType::f64 : DType::f32;
  std::optional<Term> squares;
  for_each([&](client::Value& gradient) {
    const Term g{client::to_compute_dtype(gradient, detail::here()), detail::here()};
    const Term sum = g.with(client::reduce_all(ir::ReduceFn::sum, g * g, detail::here()));
    const Term same = g.with(client::cast(sum, wide, detail::here()));
    squares = squares ? *squares + same : same;
  });
  if (!squares) return {};
  const Term norm = sqrt(*squares);
  const client::Value factor = client::reshape(min(limit / (norm + 1e-6), 1.0), ir::Shape{}, detail::here());
  for_each([&](client::Value& gradient) {
    gradient = client::in_compute_dtype(gradient, detail::here(), [&](const Term& g) {
      return g * g.with(client::cast(factor, g.value().dtype(), detail::here()));
    });
  });
  return Tensor<1>{norm};
}

void GradientsParams::take_step_only_if(const Tensor<1, Bool>& condition) {
  condition_ = condition_.has_value()
                   ? client::pointwise(ir::PointwiseFn::bool_and, condition_, condition.value().inner(), detail::here())
                   : condition.value().inner();
}

void GradientsAccumulator::accumulate(GradientsParams gradients) {
  for (auto& [id, gradient] : gradients.by_id_) sum_.add(id, std::move(gradient));
  if (gradients.condition_.has_value()) sum_.take_step_only_if(Tensor<1, Bool>{gradients.condition_});
  gradients.clear();
}

}  // namespace burn::optim
