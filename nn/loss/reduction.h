// How the losses of the elements are reduced to one number.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "client/ops/ops.h"

namespace burn::nn {

enum class Reduction : std::uint8_t {
  mean,
  sum,
  batch_mean,  // the sum divided by the size of dim 0
  auto_,       // the loss's default: batch_mean for KLDivLoss, the mean for all others
};
constexpr std::array<std::string_view, 4> enum_names(Reduction) { return {"mean", "sum", "batch_mean", "auto"}; }

namespace detail {
client::Value reduce_loss(const client::Value& loss, Reduction reduction, const client::Site& site);  // -> [1]
}

}  // namespace burn::nn
