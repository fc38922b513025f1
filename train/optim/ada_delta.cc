#include "train/optim/ada_delta.h"

#include <array>

#include "client/ops/formula.h"
#include "train/optim/ranges.h"

namespace burn::optim {
namespace {

using client::Value;

class AdaDelta : public TensorOptimizer {
 public:
  explicit AdaDelta(const AdaDeltaConfig& config) : config_(config) {}

  std::string_view name() const override { return "ada_delta"; }
  std::span<const std::string_view> state_names() const override { return kStateNames; }

  std::vector<double> numbers(double lr, std::int64_t) const override {
    return {lr, config_.rho, 1 - config_.rho, config_.epsilon, config_.weight_decay};
  }

  Value update(std::span<const Value> numbers, const Value& param, const Value& gradient,
               std::vector<Value>& state) const override {
    const auto &lr = numbers[0], &rho = numbers[1], &fresh = numbers[2], &epsilon = numbers[3];
    const auto& weight_decay = numbers[4];
    if (state.empty()) state.assign(2, zeros_like(param));
    const Value g = config_.weight_decay != 0 ? gradient + param * weight_decay : gradient;
    state[0] = state[0] * rho + g * g * fresh;
    const Value step = sqrt(state[1] + epsilon) / sqrt(state[0] + epsilon) * g;
    state[1] = state[1] * rho + step * step * fresh;
    return param - step * lr;
  }

 private:
  static constexpr std::array<std::string_view, 2> kStateNames{"square_mean", "step_square_mean"};
  const AdaDeltaConfig config_;
};

}  // namespace

ModuleOptimizer AdaDeltaConfig::init() const {
  detail::check_rates("AdaDeltaConfig", {{"rho", rho}});
  detail::check_not_negative("AdaDeltaConfig", {{"epsilon", epsilon}, {"weight_decay", weight_decay}});
  return ModuleOptimizer{std::make_shared<AdaDelta>(*this), grad_clipping};
}

}  // namespace burn::optim
