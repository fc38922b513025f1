// What is known of the tensors of a session: their types, how they lie on the members, and which of them the router
// itself refused to make.
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
    ir::TensorType type;  // of the whole
    LayoutId layout = kWhole;
    std::uint64_t used_by = 0;  // the run that last named it among its inputs, and
    bool donated_to = false;    // whether it was given to it
  };

  Tensor* find(proto::TensorId id) {
    const auto found = tensors_.find(id);
    return found == tensors_.end() ? nullptr : &found->second;
  }
  const Failure* poison_of(proto::TensorId id) const { return poisoned_.find(id); }
  bool is_known(proto::TensorId id) const { return tensors_.contains(id) || poisoned_.find(id) != nullptr; }

  // The number of a new run, which no other has had.
  std::uint64_t begin_run() { return ++runs_; }

  // Requires: not known.
  void add(proto::TensorId id, const ir::TensorType& type, LayoutId layout) {
    tensors_.emplace(id, Tensor{type, layout});
  }
  // Of `count` ids from `first` on, those that are not known fail for this reason.
  void poison(proto::TensorId first, std::uint64_t count, const Failure& why);
  // Whether it was known to the members; one that is poisoned here is not.
  bool drop(proto::TensorId id);

  std::size_t size() const { return tensors_.size() + poisoned_.ranges(); }
  // In the order of their ids.
  std::vector<proto::TensorId> ids() const;

 private:
  std::unordered_map<proto::TensorId, Tensor> tensors_;
  serving::PoisonedTensors poisoned_;
  std::uint64_t runs_ = 0;
};

}  // namespace burn::router
