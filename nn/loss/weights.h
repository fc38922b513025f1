// The weights that some losses take.
#pragma once

#include <optional>
#include <vector>

#include "nn/module/param.h"

namespace burn::nn::detail {

// On the device, or none. Throws, in the name of `config`, for an empty list and a weight that is not positive.
std::optional<RunningState<1>> loss_weights(const char* config, const std::optional<std::vector<double>>& weights,
                                            const Device& device);

}  // namespace burn::nn::detail
