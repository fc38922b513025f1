#include "nn/norm/normalization.h"

#include "nn/module/checks.h"

namespace burn::nn {

Normalization NormalizationConfig::init(const Device& device) const {
  const int given = batch.has_value() + group.has_value() + instance.has_value() + layer.has_value() + rms.has_value();
  if (given > 1) detail::reject("NormalizationConfig", std::to_string(given) + " normalisations, must be one or none");
  if (batch) return {.norm = batch->init(device)};
  if (group) return {.norm = group->init(device)};
  if (instance) return {.norm = instance->init(device)};
  if (layer) return {.norm = layer->init(device)};
  if (rms) return {.norm = rms->init(device)};
  return {};
}

client::Value Normalization::apply(const client::Value& x, const client::Site& site) const {
  return std::visit([&](const auto& chosen) { return chosen.apply(x, site); }, norm);
}

NormalizationConfig NormalizationConfig::with_num_features(std::int64_t count) const {
  NormalizationConfig config = *this;
  if (config.batch) config.batch->num_features = count;
  if (config.group) config.group->num_channels = count;
  if (config.instance) config.instance->num_channels = count;
  if (config.layer) config.layer->d_model = count;
  if (config.rms) config.rms->d_model = count;
  return config;
}

}  // namespace burn::nn
