#include "train/optim/gradients_params.h"

#include <algorithm>
#include <array>
#include <string>

#include "client/fail.h"
#include "client/ops/formula.h"
#include "nn/module/visit.h"

namespace burn::optim {
namespace {

using client::current_site;

client::Value sum_of_squares(const client::Value& gradient) {
  const client::Value g = client::to_compute_dtype(gradient, current_site());
  return client::reduce_all(ir::ReduceFn::sum, g * g, current_site());
}

}  // namespace

GradientsParams GradientsParams::take(Gradients& gradients, const nn::ModuleWalk& module,
                                      const std::vector<ParamId>* only) {
  GradientsParams result;
  nn::for_each_place(module, [&](Slot& slot, bool) {
    if (!slot.is_trainable()) return;
    if (only != nullptr && std::find(only->begin(), only->end(), slot.id) == only->end()) return;
    result.take_one(gradients, slot);
  });
  return result;
}

// Places of one parameter are usually one leaf, whose gradient is complete; gradients of different leaves are added up.
void GradientsParams::take_one(Gradients& gradients, const Slot& slot) {
  if (auto sparse = gradients.remove_sparse(slot.value))
    add(slot.id, *std::move(sparse));
  else if (auto gradient = gradients.remove(slot.value))
    add(slot.id, gradient->inner());
}

GradientsParams GradientsParams::from_grads(Gradients gradients, const nn::ModuleWalk& module,
                                            const client::Site& site) {
  GradientsParams result;
  const auto given = gradients.size();
  std::size_t trained = 0;
  nn::for_each_place(module, [&](Slot& slot, bool is_first) {
    if (!slot.is_trainable()) return;
    trained += is_first ? 1 : 0;
    result.take_one(gradients, slot);
  });
  if (given > 0 && trained > 0 && result.empty()) {
    client::fail("from_grads: none of the " + std::to_string(given) + " gradients belongs to one of the " +
                     std::to_string(trained) + " parameters of this module; is the loss that of another one?",
                 site);
  }
  // A function argument lives until the end of the caller's full expression, which may contain the step: gradients that
  // it still held would have to be computed.
  gradients = {};
  return result;
}

std::optional<client::Value> GradientsParams::get(ParamId id) const {
  if (const auto found = by_id_.find(id); found != by_id_.end()) return found->second;
  const auto sparse = get_sparse(id);
  return sparse ? std::optional{client::to_dense(*sparse, current_site())} : std::nullopt;
}

std::optional<client::Value> GradientsParams::remove(ParamId id) {
  auto result = get(id);
  by_id_.erase(id);
  sparse_by_id_.erase(id);
  return result;
}

void GradientsParams::put(ParamId id, client::Value gradient) {
  sparse_by_id_.erase(id);
  by_id_[id] = std::move(gradient);
}

std::optional<client::SparseGradient> GradientsParams::get_sparse(ParamId id) const {
  const auto found = sparse_by_id_.find(id);
  return found == sparse_by_id_.end() ? std::nullopt : std::optional{found->second};
}

std::optional<client::SparseGradient> GradientsParams::remove_sparse(ParamId id) {
  auto node = sparse_by_id_.extract(id);
  return node.empty() ? std::nullopt : std::optional{std::move(node.mapped())};
}

void GradientsParams::put_sparse(ParamId id, client::SparseGradient gradient) {
  by_id_.erase(id);
  sparse_by_id_[id] = std::move(gradient);
}

std::vector<ParamId> GradientsParams::ids() const {
  std::vector<ParamId> ids;
  ids.reserve(size());
  for (const auto& [id, gradient] : by_id_) ids.push_back(id);
  for (const auto& [id, gradient] : sparse_by_id_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

Tensor<1> GradientsParams::norm(Loc where) const {
  const client::SiteScope scope{at(where)};
  const Autocast pause{DType::f32};
  const bool has_f64 =
      std::ranges::any_of(by_id_, [](const auto& of) { return of.second.dtype() == DType::f64; }) ||
      std::ranges::any_of(sparse_by_id_, [](const auto& of) { return of.second.rows.dtype() == DType::f64; });
  const auto wide = has_f64 ? DType::f64 : DType::f32;
  std::optional<client::Value> squares;
  for (const auto id : ids()) {
    const auto sparse = get_sparse(id);
    const client::Value sum = sparse ? client::sum_of_squares(client::summed(*sparse, current_site()), current_site())
                                     : sum_of_squares(by_id_.at(id));
    const client::Value same = client::cast(sum, wide, current_site());
    squares = squares ? *squares + same : same;
  }
  return squares ? Tensor<1>{sqrt(*squares)} : Tensor<1>{};
}

Tensor<1> GradientsParams::clip_norm(double limit, Loc where) {
  const client::SiteScope scope{at(where)};
  if (!(limit > 0)) {
    client::fail("clip_norm: the limit is " + std::to_string(limit) + ", must be positive", current_site());
  }
  auto before = norm(where);
  if (empty()) return before;
  const Autocast pause{DType::f32};
  const client::Value factor = client::reshape(min(limit / (before.value() + 1e-6), 1.0), ir::Shape{}, current_site());
  for_each([&](client::Value& gradient) {
    gradient = client::in_compute_dtype(gradient, current_site(), [&](const client::Value& g) {
      return g * client::cast(factor, g.dtype(), current_site());
    });
  });
  return before;
}

void GradientsParams::take_step_only_if(const Tensor<1, Bool>& condition) {
  condition_ = condition_.has_value()
                   ? client::pointwise(ir::PointwiseFn::bool_and, condition_, condition.value().inner(), current_site())
                   : condition.value().inner();
}

void GradientsParams::add(ParamId id, client::Value gradient) {
  if (const auto sparse = remove_sparse(id)) {
    put(id, client::add_rows(gradient, *sparse, current_site()));
    return;
  }
  auto& sum = by_id_[id];
  sum = sum.has_value() ? client::pointwise(ir::PointwiseFn::add, sum, gradient, current_site()) : std::move(gradient);
}

void GradientsParams::add(ParamId id, client::SparseGradient gradient) {
  if (const auto dense = by_id_.find(id); dense != by_id_.end()) {
    dense->second = client::add_rows(dense->second, gradient, current_site());
    return;
  }
  const auto sparse = sparse_by_id_.find(id);
  if (sparse != sparse_by_id_.end()) gradient = client::sum_of(std::array{sparse->second, gradient}, current_site());
  sparse_by_id_[id] = std::move(gradient);
}

void GradientsAccumulator::accumulate(GradientsParams gradients) {
  for (auto& [id, gradient] : gradients.by_id_) sum_.add(id, std::move(gradient));
  for (auto& [id, gradient] : gradients.sparse_by_id_) sum_.add(id, std::move(gradient));
  if (gradients.condition_.has_value()) sum_.take_step_only_if(Tensor<1, Bool>{gradients.condition_});
  gradients.clear();
}

}  // namespace burn::optim
