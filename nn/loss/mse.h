// Mean squared error.
#pragma once

#include "client/tensor.h"
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
    return Tensor<1>{
        detail::reduce_loss(squares(predictions.value(), targets.value(), at(where)), reduction, at(where))};
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
    return Tensor<D>{squares(predictions.value(), targets.value(), at(where))};
  }

 private:
  static client::Value squares(const client::Value& predictions, const client::Value& targets,
                               const client::Site& site);
};

}  // namespace burn::nn
