#include "train/optim/nadam.h"

#include <array>
#include <cmath>

#include "client/ops/formula.h"
#include "train/optim/ranges.h"

namespace burn::optim {
namespace {

using client::Value;

class NAdam : public TensorOptimizer {
 public:
  explicit NAdam(const NAdamConfig& config) : config_(config) {}

  std::string_view name() const override { return "nadam"; }
  std::span<const std::string_view> state_names() const override { return kStateNames; }

  // The learning rate and the corrections are part of the factors of the gradient and of its mean.
  std::vector<double> numbers(double lr, std::int64_t step) const override {
    // The product mu_1 ... mu_t. It is below beta_1^t, so it soon becomes negligible compared to 1.
    const double ratio = std::pow(0.96, config_.momentum_decay);
    double product = 1, power = 1;
    for (std::int64_t i = 1; i <= step && product > 1e-20; ++i) {
      power *= ratio;
      product *= config_.beta_1 * (1 - power / 2);
    }
    const auto t = static_cast<double>(step);
    const double mu = config_.beta_1 * (1 - std::pow(ratio, t) / 2);
    const double next_mu = config_.beta_1 * (1 - std::pow(ratio, t + 1) / 2);
    return {config_.beta_1,
            1 - config_.beta_1,
            config_.beta_2,
            1 - config_.beta_2,
            config_.epsilon,
            config_.decoupled_weight_decay ? 1 - lr * config_.weight_decay : config_.weight_decay,
            lr * (1 - mu) / (1 - product),
            lr * next_mu / (1 - product * next_mu),
            1 / (1 - std::pow(config_.beta_2, t))};
  }

  Value update(std::span<const Value> numbers, const Value& param, const Value& gradient,
               std::vector<Value>& state) const override {
    const auto &beta_1 = numbers[0], &fresh_1 = numbers[1], &beta_2 = numbers[2], &fresh_2 = numbers[3];
    const auto &epsilon = numbers[4], &decay = numbers[5], &of_gradient = numbers[6], &of_mean = numbers[7];
    const auto& correction_2 = numbers[8];
    if (state.empty()) state.assign(2, zeros_like(param));
    Value p = param, g = gradient;
    if (config_.weight_decay != 0) {
      if (config_.decoupled_weight_decay)
        p = p * decay;
      else
        g = g + param * decay;
    }
    state[0] = state[0] * beta_1 + g * fresh_1;
    state[1] = state[1] * beta_2 + g * g * fresh_2;
    return p - (g * of_gradient + state[0] * of_mean) / (sqrt(state[1] * correction_2) + epsilon);
  }

 private:
  static constexpr std::array<std::string_view, 2> kStateNames{"moment_1", "moment_2"};
  const NAdamConfig config_;
};

}  // namespace

ModuleOptimizer NAdamConfig::init() const {
  detail::check_rates("NAdamConfig", {{"beta_1", beta_1}, {"beta_2", beta_2}});
  detail::check_not_negative(
      "NAdamConfig", {{"epsilon", epsilon}, {"weight_decay", weight_decay}, {"momentum_decay", momentum_decay}});
  return ModuleOptimizer{std::make_shared<NAdam>(*this), grad_clipping};
}

}  // namespace burn::optim
