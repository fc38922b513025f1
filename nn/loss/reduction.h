// What becomes of a loss per element.
#pragma once

#include <cstdint>

#include "client/ops/ops.h"

namespace burn::nn {

enum class Reduction : std::uint8_t {
  mean,
  sum,
  batch_mean,  // the sum divided by the size of dim 0
  auto_,       // what is usual for the loss: the mean
};

namespace detail {
client::Value reduce_loss(const client::Value& loss, Reduction reduction, const client::Site& site);  // -> [1]
}

}  // namespace burn::nn
