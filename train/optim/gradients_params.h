// Gradients by parameter: what an optimizer takes. On the inner device, without a tape.
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

#include "client/ops/gradients.h"
#include "nn/module/module.h"

namespace burn::optim {

// A value; one thread at a time. Handing it to an optimizer empties it, so that the step can reuse the memory.
class GradientsParams {
 public:
  // The gradients of the module's parameters out of what backward() gave. A parameter that the loss does not depend on
  // has none; one at several places of the module has the sum over all of them. Errors: gradients of which none belongs
  // to the module, though it has parameters that are trained: they are those of another module, or of one that this has
  // been made from since (to_device, fork, load_record).
  template <Module M>
  static GradientsParams from_grads(Gradients gradients, const M& module, Loc where = Loc::current()) {
    return from_grads(std::move(gradients), const_cast<M&>(module).walk(), at(where));
  }
  static GradientsParams from_grads(Gradients gradients, const nn::ModuleWalk& module, const client::Site& site);
  // The same, taken out of `gradients`, which keeps the others: for a loss through several modules, each with an
  // optimizer of its own.
  template <Module M>
  static GradientsParams from_module(Gradients& gradients, const M& module) {
    return take(gradients, const_cast<M&>(module).walk(), nullptr);
  }
  // Only those of the parameters named (ParamGroup::ids_from_module).
  template <Module M>
  static GradientsParams from_params(Gradients& gradients, const M& module, const std::vector<ParamId>& ids) {
    return take(gradients, const_cast<M&>(module).walk(), &ids);
  }

  // A sparse gradient (client/ops/sparse_gradient.h) is given as a dense tensor, of the size of its table.
  std::optional<client::Value> get(ParamId id) const;
  std::optional<client::Value> remove(ParamId id);
  void put(ParamId id, client::Value gradient);
  // The sparse gradient of a parameter; nothing where it is dense.
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

  // Multiplies all gradients by min(limit / (norm + 1e-6), 1), where norm is the l2 norm of all of them together: as
  // torch.nn.utils.clip_grad_norm_, with its 1e-6, which is in units of the norm and counts where that is small (at a
  // norm of 0.01 the result is 1e-4 times the limit below it). A parameter at several places counts once. Computed in
  // f64 if one of the gradients is f64, else in f32. Returns the norm that they had, [1], of that dtype, without
  // waiting for it. Errors: a limit that is not positive; gradients on several devices. Of no gradients the norm is
  // empty.
  Tensor<1> clip_norm(double limit, Loc where = Loc::current());
  // That norm alone, of which clip_norm() says more.
  Tensor<1> norm(Loc where = Loc::current()) const;

  // Calls body(gradient) for each of them, which it may replace, in the order of the parameters' ids. Of a sparse
  // gradient it gets the rows, where those of equal index are yet to be added up: right for what is linear.
  template <typename Body>
  void for_each(Body&& body) {
    for (const auto id : ids()) {
      const auto sparse = sparse_by_id_.find(id);
      body(sparse == sparse_by_id_.end() ? by_id_[id] : sparse->second.rows);
    }
  }

  // A bool on the device, [1], that decides whether a step with these gradients is taken; where it is false, the step
  // leaves parameters and optimizer state as they were. Empty: the step is taken. The host does not wait for it.
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
  std::vector<ParamId> ids() const;  // sorted: what is recorded must not depend on the order of a hash table

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
  // What has been summed so far; the accumulator starts afresh.
  GradientsParams grads() { return std::exchange(sum_, {}); }

 private:
  GradientsParams sum_;
};

}  // namespace burn::optim

namespace burn {
using optim::GradientsAccumulator;
using optim::GradientsParams;
}  // namespace burn
