// Macros that define the methods of losses. For headers of this folder.
#pragma once

#include <optional>

#include "client/tensor/tensor.h"
#include "nn/loss/reduction.h"
#include "nn/module/forward.h"
#include "nn/module/module.h"

// Defines forward(), operator() and forward_no_reduction(), which returns an `Each`, for a loss that has
//   client::Value apply(<values>, std::optional<Reduction> reduction, const client::Site& site) const;
// which returns the loss of each element if `reduction` is empty. `Template` may be empty; `parameters` and `values`
// are lists in parentheses.
#define BURN_LOSS_METHODS(Template, Each, usual, parameters, values)                                      \
  BURN_FORWARD(nullptr, Template, ::burn::Tensor<1>, (BURN_LIST parameters, Reduction reduction = usual), \
               (BURN_LIST values, reduction))                                                             \
  BURN_LIST Template Each forward_no_reduction(BURN_LIST parameters, Loc where = Loc::current()) const {  \
    return Each{this->apply(BURN_LIST values, std::nullopt, at(where))};                                  \
  }

// The methods of a loss of predictions and targets of the same shape: [...], [...] -> [1]; forward_no_reduction: ->
// [...]. The targets may be floats, whole numbers or bools. Errors: shapes that differ.
#define BURN_PAIR_LOSS(Type, usual)                                                   \
  BURN_MODULE(Type)                                                                   \
  BURN_LOSS_METHODS((template <int D, Kind K>), Tensor<D>, usual,                     \
                    (const Tensor<D>& predictions, const Tensor<D, K>& targets),      \
                    (predictions.value(), targets.value()))                           \
  client::Value apply(const client::Value& predictions, const client::Value& targets, \
                      std::optional<Reduction> reduction, const client::Site& site) const;
