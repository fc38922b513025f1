#include "nn/loss/weights.h"

#include "nn/module/checks.h"

namespace burn::nn::detail {

std::optional<RunningState<1>> loss_weights(const char* config, const std::optional<std::vector<double>>& weights,
                                            const Device& device) {
  if (!weights) return std::nullopt;
  if (weights->empty()) reject(config, "weights is an empty list");
  for (const double weight : *weights) {
    if (!(weight > 0)) reject(config, "a weight is " + std::to_string(weight) + ", must be positive");
  }
  const TensorData data(std::vector<float>(weights->begin(), weights->end()),
                        {static_cast<std::int64_t>(weights->size())});
  return Tensor<1>::from_data(data, device);
}

}  // namespace burn::nn::detail
