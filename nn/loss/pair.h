// Code shared by losses of predictions and targets of the same shape: the loss is computed element by element by a
// formula, then reduced or not.
#pragma once

#include <optional>
#include <string>

#include "client/fail.h"
#include "client/ops/formula.h"
#include "nn/loss/reduction.h"

namespace burn::nn::detail {

inline void check_same_shape(const char* loss, const char* first, const client::Value& a, const char* second,
                             const client::Value& b, const client::Site& site) {
  client::fail_if_empty(a, loss, site);
  client::fail_if_empty(b, (std::string{loss} + ": " + second).c_str(), site);
  if (a.shape() == b.shape()) return;  // broadcasting here would more often be a mistake than intended
  client::fail(std::string{loss} + ": " + first + " " + ir::to_string(a.type()) + " and " + second + " " +
                   ir::to_string(b.type()) + " differ in shape",
               site);
}

// Converts `other`, another operand of a loss, for arithmetic with `x`: whole numbers and bools to x's dtype, floats to
// the compute dtype.
inline client::Value operand_for(const client::Value& x, const client::Value& other) {
  return ir::is_floating(other.dtype()) ? client::to_compute_dtype(other, client::current_site())
                                        : client::cast(other, x.dtype(), client::current_site());
}

inline client::Value reduced(const client::Value& loss, std::optional<Reduction> reduction, const client::Site& site) {
  return reduction ? reduce_loss(loss, *reduction, site) : loss;
}

// Computes formula(x, t), the loss of each element, and reduces it; without a reduction, returns it as computed.
template <typename Formula>
client::Value pair_loss(const char* name, const client::Value& predictions, const client::Value& targets,
                        std::optional<Reduction> reduction, const client::Site& site, Formula&& formula) {
  check_same_shape(name, "predictions", predictions, "targets", targets, site);
  return client::in_wide_dtype(predictions, site, [&](const client::Value& x) {
    return reduced(formula(x, operand_for(x, targets)), reduction, site);
  });
}

}  // namespace burn::nn::detail
