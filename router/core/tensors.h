// The tensors of a session as the router knows them: their types, their layouts on the members, and those that the
// router itself refused to make (poisoned).
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/failure.h"
#include "proto/session.h"
#include "router/core/layouts.h"
#include "serving/poison.h"

namespace burn::router {

class Tensors {
 public:
  struct Tensor {
    ir::TensorType type;  // of the whole value
    LayoutId layout = kWhole;
    std::uint64_t used_by = 0;  // the last run that had it as an input, and
    bool donated_to = false;    // whether that run took it as a donation
  };

  Tensor* find(proto::TensorId id) {
    const auto found = tensors_.find(id);
    return found == tensors_.end() ? nullptr : &found->second;
  }
  const Failure* poison_of(proto::TensorId id) const { return poisoned_.find(id); }
  bool is_known(proto::TensorId id) const { return tensors_.contains(id) || poisoned_.find(id) != nullptr; }

  // Returns a new, unique number for a run.
  std::uint64_t begin_run() { return ++runs_; }

  // Requires: not known.
  void add(proto::TensorId id, const ir::TensorType& type, LayoutId layout) {
    tensors_.emplace(id, Tensor{type, layout});
  }
  // Poisons those of the `count` ids from `first` on that are not known yet.
  void poison(proto::TensorId first, std::uint64_t count, const Failure& why);
  // Removes the tensor. Returns true if the members have it, and false if it is poisoned here or unknown.
  bool drop(proto::TensorId id);

  std::size_t size() const { return tensors_.size() + poisoned_.ranges(); }
  // The ids of the tensors on the members, in ascending order.
  std::vector<proto::TensorId> ids() const;

 private:
  std::unordered_map<proto::TensorId, Tensor> tensors_;
  serving::PoisonedTensors poisoned_;
  std::uint64_t runs_ = 0;
};

}  // namespace burn::router
