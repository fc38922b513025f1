// Checks shared by the init() of configurations and the apply() of layers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "nn/module/param.h"

namespace burn::nn::detail {

// Returns a layer's tensor, for its forward(). Errors (thrown): "Linear: weight: the tensor is empty: ...": the layer
// was default-constructed, moved from, or left out of the initializer of the module that contains it.
inline client::Value held(const ParamBase& param, const char* name, const client::Site& site) {
  client::fail_if_empty(param.slot().value, name, site);
  return param.value(site);
}
// The tensor of an optional parameter; std::nullopt if the layer has none.
template <typename OptionalParam>
std::optional<client::Value> held_if_any(const OptionalParam& param, const client::Site& site) {
  return param ? std::optional{param->value(site)} : std::nullopt;
}
inline const client::Value* pointer_to(const std::optional<client::Value>& value) { return value ? &*value : nullptr; }

// For the apply() of a layer. Errors (thrown): an empty tensor; a tensor of another (check_rank_at_least(): lower)
// rank: "conv2d: f32[3] has rank 1, must be 4".
void check_rank(const char* op, const client::Value& x, int rank, const client::Site& site);
void check_rank_at_least(const char* op, const client::Value& x, int least, const client::Site& site);

// Each throws burn::Error: "Conv2dConfig: kernel_size[1] is 0, must be at least 1".
void check_at_least(const char* config, const char* field, std::int64_t value, std::int64_t least);
void check_at_least(const char* config, const char* field, std::span<const std::int64_t> values, std::int64_t least);
void check_between(const char* config, const char* field, double value, double low, double high);  // both included
[[noreturn]] void reject(const char* config, const std::string& what);

}  // namespace burn::nn::detail
