// Mean squared error.
#pragma once

#include <optional>

#include "client/tensor/tensor.h"
#include "nn/loss/reduction.h"
#include "nn/module.h"

namespace burn::nn {

// (prediction - target)^2, reduced.
struct MseLoss {
  BURN_MODULE(MseLoss)

  // Shapes: [...], [...] -> [1]. Errors: shapes that differ.
  template <int D>
  Tensor<1> forward(const Tensor<D>& predictions, const Tensor<D>& targets, Reduction reduction = Reduction::mean,
                    Loc where = Loc::current()) const {
    return Tensor<1>{run(predictions.value(), targets.value(), reduction, at(where))};
  }
  template <int D>
  Tensor<1> operator()(const Tensor<D>& predictions, const Tensor<D>& targets, Reduction reduction = Reduction::mean,
                       Loc where = Loc::current()) const {
    return forward(predictions, targets, reduction, where);
  }
  // The loss of each element. Shapes: [...], [...] -> [...].
  template <int D>
  Tensor<D> forward_no_reduction(const Tensor<D>& predictions, const Tensor<D>& targets,
                                 Loc where = Loc::current()) const {
    return Tensor<D>{run(predictions.value(), targets.value(), std::nullopt, at(where))};
  }

 private:
  // Without a reduction: the loss of each element.
  static client::Value run(const client::Value& predictions, const client::Value& targets,
                           std::optional<Reduction> reduction, const client::Site& site);
};

}  // namespace burn::nn
