#include "train/optim/rms_prop.h"

#include <array>

#include "client/ops/formula.h"
#include "train/optim/ranges.h"

namespace burn::optim {
namespace {

using client::Value;

class RmsProp : public TensorOptimizer {
 public:
  explicit RmsProp(const RmsPropConfig& config) : config_(config) {
    if (config_.centered) names_.push_back("gradient_mean");
    if (config_.momentum != 0) names_.push_back("momentum");
  }

  std::string_view name() const override { return "rms_prop"; }
  std::span<const std::string_view> state_names() const override { return names_; }

  std::vector<double> numbers(double lr, std::int64_t) const override {
    return {lr, config_.alpha, 1 - config_.alpha, config_.momentum, config_.epsilon, config_.weight_decay};
  }

  Value update(std::span<const Value> numbers, const Value& param, const Value& gradient,
               std::vector<Value>& state) const override {
    const auto &lr = numbers[0], &alpha = numbers[1], &fresh = numbers[2];
    const auto &momentum = numbers[3], &epsilon = numbers[4], &weight_decay = numbers[5];
    if (state.empty()) state.assign(names_.size(), zeros_like(param));
    const Value g = config_.weight_decay != 0 ? gradient + param * weight_decay : gradient;
    state[0] = state[0] * alpha + g * g * fresh;
    Value square = state[0];
    if (config_.centered) {
      state[1] = state[1] * alpha + g * fresh;
      square = max(square - state[1] * state[1], zeros_like(param));  // not negative, except by rounding
    }
    Value step = g / (sqrt(square) + epsilon);
    if (config_.momentum != 0) step = state.back() = state.back() * momentum + step;
    return param - step * lr;
  }

 private:
  const RmsPropConfig config_;
  std::vector<std::string_view> names_{"square_mean"};
};

}  // namespace

ModuleOptimizer RmsPropConfig::init() const {
  detail::check_rates("RmsPropConfig", {{"alpha", alpha}});
  detail::check_not_negative("RmsPropConfig",
                             {{"momentum", momentum}, {"epsilon", epsilon}, {"weight_decay", weight_decay}});
  return ModuleOptimizer{std::make_shared<RmsProp>(*this), grad_clipping};
}

}  // namespace burn::optim
