// The optional weights of losses.
#pragma once

#include <optional>
#include <vector>

#include "nn/module/param.h"

namespace burn::nn::detail {

// Copies the weights to the device; std::nullopt if there are none. Throws for an empty list or a weight that is not
// positive; the message begins with `config`.
std::optional<RunningState<1>> loss_weights(const char* config, const std::optional<std::vector<double>>& weights,
                                            const Device& device);

}  // namespace burn::nn::detail
