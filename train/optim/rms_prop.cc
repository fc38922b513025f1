#include "train/optim/rms_prop.h"

#include <array>
#include <cmath>

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
      square = max(square - state[1] * state[1], zeros_like(param));  // a variance, but for rounding
    }
    Value step = g / (sqrt(square) + epsilon);
    if (config_.momentum != 0) step = state.back() = state.back() * momentum + step;
    return param - step * lr;
  }

 private:
  const RmsPropConfig config_;
  std::vector<std::string_view> names_{"square_mean"};
};

class AdaGrad : public TensorOptimizer {
 public:
  explicit AdaGrad(const AdaGradConfig& config) : config_(config) {}

  std::string_view name() const override { return "ada_grad"; }
  std::span<const std::string_view> state_names() const override { return kStateNames; }

  std::vector<double> numbers(double lr, std::int64_t step) const override {
    return {lr / (1 + static_cast<double>(step - 1) * config_.lr_decay), config_.epsilon, config_.weight_decay};
  }

  Value update(std::span<const Value> numbers, const Value& param, const Value& gradient,
               std::vector<Value>& state) const override {
    const auto &lr = numbers[0], &epsilon = numbers[1], &weight_decay = numbers[2];
    if (state.empty()) state.assign(1, zeros_like(param));
    const Value g = config_.weight_decay != 0 ? gradient + param * weight_decay : gradient;
    state[0] = state[0] + g * g;
    return param - g * lr / (sqrt(state[0]) + epsilon);
  }

  SparseSupport sparse_gradients() const override {
    if (config_.weight_decay != 0) return {.refusal = "its weight_decay is not 0 and changes every row"};
    return {};
  }

 private:
  static constexpr std::array<std::string_view, 1> kStateNames{"square_sum"};
  const AdaGradConfig config_;
};

class Adan : public TensorOptimizer {
 public:
  explicit Adan(const AdanConfig& config) : config_(config) {}

  std::string_view name() const override { return "adan"; }
  std::span<const std::string_view> state_names() const override { return kStateNames; }

  // The corrections of the moments go into the numbers.
  std::vector<double> numbers(double lr, std::int64_t step) const override {
    const auto t = static_cast<double>(step);
    const auto correction = [&](double beta) { return 1 / (1 - std::pow(beta, t)); };
    const double decay = lr * config_.weight_decay;
    return {config_.beta_1,
            1 - config_.beta_1,
            config_.beta_2,
            1 - config_.beta_2,
            config_.beta_3,
            1 - config_.beta_3,
            config_.epsilon,
            lr * correction(config_.beta_1),
            lr * config_.beta_2 * correction(config_.beta_2),
            correction(config_.beta_3),
            config_.no_prox ? 1 - decay : 1 / (1 + decay)};
  }

  Value update(std::span<const Value> numbers, const Value& param, const Value& gradient,
               std::vector<Value>& state) const override {
    const auto &beta_1 = numbers[0], &fresh_1 = numbers[1], &beta_2 = numbers[2], &fresh_2 = numbers[3];
    const auto &beta_3 = numbers[4], &fresh_3 = numbers[5], &epsilon = numbers[6], &of_mean = numbers[7];
    const auto &of_difference = numbers[8], &correction_3 = numbers[9], &decay = numbers[10];
    if (state.empty()) {
      state.assign(3, zeros_like(param));
      state.push_back(gradient);  // so that the first difference is 0
    }
    const Value difference = gradient - state[3], ahead = gradient + difference * beta_2;
    state[0] = state[0] * beta_1 + gradient * fresh_1;
    state[1] = state[1] * beta_2 + difference * fresh_2;
    state[2] = state[2] * beta_3 + ahead * ahead * fresh_3;
    state[3] = gradient;
    const Value step = (state[0] * of_mean + state[1] * of_difference) / (sqrt(state[2] * correction_3) + epsilon);
    if (config_.weight_decay == 0) return param - step;
    return config_.no_prox ? param * decay - step : (param - step) * decay;
  }

 private:
  static constexpr std::array<std::string_view, 4> kStateNames{"mean", "difference_mean", "square_mean",
                                                               "previous_gradient"};
  const AdanConfig config_;
};

}  // namespace

ModuleOptimizer RmsPropConfig::init() const {
  detail::check_rates("RmsPropConfig", {{"alpha", alpha}});
  detail::check_not_negative("RmsPropConfig",
                             {{"momentum", momentum}, {"epsilon", epsilon}, {"weight_decay", weight_decay}});
  return ModuleOptimizer{std::make_shared<RmsProp>(*this), grad_clipping};
}
ModuleOptimizer AdaGradConfig::init() const {
  detail::check_not_negative("AdaGradConfig",
                             {{"lr_decay", lr_decay}, {"epsilon", epsilon}, {"weight_decay", weight_decay}});
  return ModuleOptimizer{std::make_shared<AdaGrad>(*this), grad_clipping};
}
ModuleOptimizer AdanConfig::init() const {
  detail::check_rates("AdanConfig", {{"beta_1", beta_1}, {"beta_2", beta_2}, {"beta_3", beta_3}});
  detail::check_not_negative("AdanConfig", {{"epsilon", epsilon}, {"weight_decay", weight_decay}});
  return ModuleOptimizer{std::make_shared<Adan>(*this), grad_clipping};
}

}  // namespace burn::optim
