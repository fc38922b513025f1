// Gradients by parameter, as optimizers take them. On the inner device, without a tape.
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

#include "client/ops/gradients.h"
#include "nn/module/module.h"

namespace burn::optim {

// A value; one thread at a time. Passing it to an optimizer empties it, so that the step can reuse the memory.
class GradientsParams {
 public:
  // The gradients of the module's parameters from the result of backward(). A parameter that the loss does not depend
  // on has none; a parameter at several places of the module has the sum over all of them. Errors: the module has
  // trained parameters, but none of the gradients belongs to them: they are those of another module, or of an earlier
  // one from which this module was created since (to_device, fork, load_record).
  template <Module M>
  static GradientsParams from_grads(Gradients gradients, const M& module, Loc where = Loc::current()) {
    return from_grads(std::move(gradients), const_cast<M&>(module).walk(), at(where));
  }
  static GradientsParams from_grads(Gradients gradients, const nn::ModuleWalk& module, const client::Site& site);
  // The same, but removes the gradients from `gradients`, which keeps the others: for a loss that depends on several
  // modules, each with its own optimizer.
  template <Module M>
  static GradientsParams from_module(Gradients& gradients, const M& module) {
    return take(gradients, const_cast<M&>(module).walk(), nullptr);
  }
  // Only the gradients of the given parameters (ParamGroup::ids_from_module).
  template <Module M>
  static GradientsParams from_params(Gradients& gradients, const M& module, const std::vector<ParamId>& ids) {
    return take(gradients, const_cast<M&>(module).walk(), &ids);
  }

  // Returns a sparse gradient (client/ops/sparse_gradient.h) as a dense tensor of the size of its table.
  std::optional<client::Value> get(ParamId id) const;
  std::optional<client::Value> remove(ParamId id);
  void put(ParamId id, client::Value gradient);
  // The sparse gradient of a parameter; std::nullopt if it is dense.
  std::optional<client::SparseGradient> get_sparse(ParamId id) const;
  std::optional<client::SparseGradient> remove_sparse(ParamId id);
  void put_sparse(ParamId id, client::SparseGradient gradient);
  std::size_t size() const { return by_id_.size() + sparse_by_id_.size(); }
  bool empty() const { return size() == 0; }
  void clear() {
    by_id_.clear();
    sparse_by_id_.clear();
    condition_ = {};
  }

  // Multiplies all gradients by min(limit / (norm + 1e-6), 1), where norm is the l2 norm of all of them together, like
  // torch.nn.utils.clip_grad_norm_. The 1e-6 matters if the norm is small (at a norm of 0.01 the result is 1e-4 times
  // the limit below it). A parameter at several places counts once. Computed in f64 if one of the gradients is f64,
  // else in f32. Returns the norm before clipping, [1], of that dtype, without waiting for it; empty if there are no
  // gradients. Errors: a limit that is not positive; gradients on several devices.
  Tensor<1> clip_norm(double limit, Loc where = Loc::current());
  // Returns that norm without clipping.
  Tensor<1> norm(Loc where = Loc::current()) const;

  // Calls body(gradient) for each gradient, which it may replace, in the order of the parameters' ids. For a sparse
  // gradient body gets the rows before those of equal index are summed: this is correct only for linear functions.
  template <typename Body>
  void for_each(Body&& body) {
    for (const auto id : ids()) {
      const auto sparse = sparse_by_id_.find(id);
      body(sparse == sparse_by_id_.end() ? by_id_[id] : sparse->second.rows);
    }
  }

  // A bool on the device, [1], that decides whether a step with these gradients is taken; if it is false, the step does
  // not change parameters and optimizer state. Empty: the step is taken. The host does not wait for it.
  const client::Value& condition() const { return condition_; }
  void take_step_only_if(const Tensor<1, Bool>& condition);

  // The gradient of one parameter, with its rank.
  template <int D>
  std::optional<Tensor<D>> get(const Param<D>& param) const {
    const auto value = get(param.id());
    return value ? std::optional{Tensor<D>{*value}} : std::nullopt;
  }

 private:
  friend class GradientsAccumulator;
  static GradientsParams take(Gradients& gradients, const nn::ModuleWalk& module, const std::vector<ParamId>* only);
  std::vector<ParamId> ids() const;  // sorted: the recorded program must not depend on hash order

  void take_one(Gradients& gradients, const Slot& slot);
  void add(ParamId id, client::Value gradient);
  void add(ParamId id, client::SparseGradient gradient);

  std::unordered_map<ParamId, client::Value> by_id_;
  std::unordered_map<ParamId, client::SparseGradient> sparse_by_id_;  // a parameter is in one of the two
  client::Value condition_;
};

// Sums gradients over several batches, for a step with a batch larger than memory.
class GradientsAccumulator {
 public:
  void accumulate(GradientsParams gradients);
  // Returns the sums so far, and resets the accumulator.
  GradientsParams grads() { return std::exchange(sum_, {}); }

 private:
  GradientsParams sum_;
};

}  // namespace burn::optim

namespace burn {
using optim::GradientsAccumulator;
using optim::GradientsParams;
}  // namespace burn
