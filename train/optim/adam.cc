#include "train/optim/adam.h"

#include <array>
#include <cmath>

#include "client/ops/formula.h"
#include "train/optim/ranges.h"

namespace burn::optim {
namespace {

using client::Value;

enum class WeightDecay { in_gradient, decoupled, cautious };

class Adam : public TensorOptimizer {
 public:
  Adam(const AdamConfig& config, WeightDecay decay) : config_(config), decay_(decay) {}

  std::string_view name() const override { return decay_ == WeightDecay::in_gradient ? "adam" : "adamw"; }
  std::span<const std::string_view> state_names() const override {
    return std::span{kStateNames}.first(config_.amsgrad ? 3 : 2);
  }

  // The bias corrections are part of the numbers: that of m, 1 / (1 - beta_1^t), of the step size; that of v, 1 / (1 -
  // beta_2^t), is a factor of v.
  std::vector<double> numbers(double lr, std::int64_t step) const override {
    const auto t = static_cast<double>(step);
    const double decay = decay_ == WeightDecay::in_gradient ? config_.weight_decay
                         : decay_ == WeightDecay::decoupled ? 1 - lr * config_.weight_decay
                                                            : lr * config_.weight_decay;
    return {config_.beta_1,
            1 - config_.beta_1,
            config_.beta_2,
            1 - config_.beta_2,
            config_.epsilon,
            decay,
            lr / (1 - std::pow(config_.beta_1, t)),
            1 / (1 - std::pow(config_.beta_2, t))};
  }

  Value update(std::span<const Value> numbers, const Value& param, const Value& gradient,
               std::vector<Value>& state) const override {
    const auto &beta_1 = numbers[0], &fresh_1 = numbers[1], &beta_2 = numbers[2], &fresh_2 = numbers[3];
    const auto &epsilon = numbers[4], &decay = numbers[5], &step_size = numbers[6], &correction_2 = numbers[7];
    if (state.empty()) state.assign(state_names().size(), zeros_like(param));
    const bool decays = config_.weight_decay != 0;
    const Value g = decays && decay_ == WeightDecay::in_gradient ? gradient + param * decay : gradient;
    state[0] = state[0] * beta_1 + g * fresh_1;
    state[1] = state[1] * beta_2 + g * g * fresh_2;
    if (config_.amsgrad) state[2] = max(state[2], state[1]);
    Value p = param;
    if (decays && decay_ == WeightDecay::decoupled) p = p * decay;
    if (decays && decay_ == WeightDecay::cautious) {
      const Value zero = zeros_like(p);
      p = select((p >= zero) == (state[0] >= zero), p - p * decay, p);
    }
    return p - state[0] * step_size / (sqrt(state.back() * correction_2) + epsilon);
  }

  SparseSupport sparse_gradients() const override {
    if (decay_ != WeightDecay::in_gradient) return {.refusal = "AdamWConfig decays every row; take AdamConfig"};
    if (config_.weight_decay != 0) return {.refusal = "its weight_decay is not 0 and changes every row"};
    if (config_.amsgrad) return {.refusal = "amsgrad is for dense gradients"};
    return {};
  }

  // As torch.optim.SparseAdam, where epsilon is not corrected with v: m / ((sqrt(v) + epsilon) sqrt(correction_2)).
  Value update_rows(std::span<const Value> numbers, const Value& rows, const Value& gradient,
                    std::vector<Value>& state) const override {
    const auto &beta_1 = numbers[0], &fresh_1 = numbers[1], &beta_2 = numbers[2], &fresh_2 = numbers[3];
    const auto &epsilon = numbers[4], &step_size = numbers[6], &correction_2 = numbers[7];
    state[0] = state[0] * beta_1 + gradient * fresh_1;
    state[1] = state[1] * beta_2 + gradient * gradient * fresh_2;
    return rows - state[0] * step_size / ((sqrt(state[1]) + epsilon) * sqrt(correction_2));
  }

 private:
  static constexpr std::array<std::string_view, 3> kStateNames{"moment_1", "moment_2", "max_moment_2"};
  const AdamConfig config_;
  const WeightDecay decay_;
};

void check(const char* name, const AdamConfig& config) {
  detail::check_rates(name, {{"beta_1", config.beta_1}, {"beta_2", config.beta_2}});
  detail::check_not_negative(name, {{"epsilon", config.epsilon}, {"weight_decay", config.weight_decay}});
}

}  // namespace

ModuleOptimizer AdamConfig::init() const {
  check("AdamConfig", *this);
  return ModuleOptimizer{std::make_shared<Adam>(*this, WeightDecay::in_gradient), grad_clipping};
}

ModuleOptimizer AdamWConfig::init() const {
  const AdamConfig adam{beta_1, beta_2, epsilon, weight_decay, amsgrad, grad_clipping};
  check("AdamWConfig", adam);
  return ModuleOptimizer{
      std::make_shared<Adam>(adam, cautious_weight_decay ? WeightDecay::cautious : WeightDecay::decoupled),
      grad_clipping};
}

}  // namespace burn::optim
