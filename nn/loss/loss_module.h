// The methods that losses share. For headers of this folder.
#pragma once

#include <optional>

#include "client/tensor/tensor.h"
#include "nn/loss/reduction.h"
#include "nn/module.h"

#define BURN_LOSS_LIST(...) __VA_ARGS__

// forward(), a call, and forward_no_reduction(), which gives an `Each`, of a loss that has
//   client::Value run(<values>, std::optional<Reduction> reduction, const client::Site& site) const;
// `Template` may be empty; parameters, arguments and values are lists in parentheses.
#define BURN_LOSS_METHODS(Template, Each, usual, parameters, arguments, values)                                    \
  BURN_LOSS_LIST Template Tensor<1> forward(BURN_LOSS_LIST parameters, Reduction reduction = usual,                \
                                            Loc where = Loc::current()) const {                                    \
    return Tensor<1>{run(BURN_LOSS_LIST values, reduction, at(where))};                                            \
  }                                                                                                                \
  BURN_LOSS_LIST Template Tensor<1> operator()(BURN_LOSS_LIST parameters, Reduction reduction = usual,             \
                                               Loc where = Loc::current()) const {                                 \
    return forward(BURN_LOSS_LIST arguments, reduction, where);                                                    \
  }                                                                                                                \
  BURN_LOSS_LIST Template Each forward_no_reduction(BURN_LOSS_LIST parameters, Loc where = Loc::current()) const { \
    return Each{run(BURN_LOSS_LIST values, std::nullopt, at(where))};                                              \
  }

// A loss of predictions beside targets of the same shape: [...], [...] -> [1]; forward_no_reduction: -> [...]. The
// targets may be floats, whole numbers or bools. Errors: shapes that differ.
#define BURN_PAIR_LOSS(Type, usual)                                                                      \
  BURN_MODULE(Type)                                                                                      \
  BURN_LOSS_METHODS((template <int D, Kind K>), Tensor<D>, usual,                                        \
                    (const Tensor<D>& predictions, const Tensor<D, K>& targets), (predictions, targets), \
                    (predictions.value(), targets.value()))                                              \
 private:                                                                                                \
  client::Value run(const client::Value& predictions, const client::Value& targets,                      \
                    std::optional<Reduction> reduction, const client::Site& site) const;                 \
                                                                                                         \
 public:
