#include "train/optim/radam.h"

#include <array>
#include <cmath>

#include "client/ops/formula.h"
#include "train/optim/ranges.h"

namespace burn::optim {
namespace {

using client::Value;

class RAdam : public TensorOptimizer {
 public:
  explicit RAdam(const RAdamConfig& config) : config_(config) {}

  std::string_view name() const override { return "radam"; }
  std::span<const std::string_view> state_names() const override { return kStateNames; }

  // The step is m (plain + adaptive / (sqrt(v) + epsilon)), where one of the two factors is 0, so that every step is
  // the same program. As in PyTorch, epsilon is added to the uncorrected sqrt(v).
  std::vector<double> numbers(double lr, std::int64_t step) const override {
    const auto t = static_cast<double>(step);
    const double power_2 = std::pow(config_.beta_2, t), most = 2 / (1 - config_.beta_2) - 1;
    const double known = most - 2 * t * power_2 / (1 - power_2);
    const double of_mean = lr / (1 - std::pow(config_.beta_1, t));
    double plain = of_mean, adaptive = 0;
    if (known > 5) {
      plain = 0;
      adaptive = of_mean * std::sqrt(1 - power_2) *
                 std::sqrt((known - 4) * (known - 2) * most / ((most - 4) * (most - 2) * known));
    }
    return {config_.beta_1,  1 - config_.beta_1,
            config_.beta_2,  1 - config_.beta_2,
            config_.epsilon, config_.decoupled_weight_decay ? 1 - lr * config_.weight_decay : config_.weight_decay,
            plain,           adaptive};
  }

  Value update(std::span<const Value> numbers, const Value& param, const Value& gradient,
               std::vector<Value>& state) const override {
    const auto &beta_1 = numbers[0], &fresh_1 = numbers[1], &beta_2 = numbers[2], &fresh_2 = numbers[3];
    const auto &epsilon = numbers[4], &decay = numbers[5], &plain = numbers[6], &adaptive = numbers[7];
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
    return p - state[0] * plain - state[0] * adaptive / (sqrt(state[1]) + epsilon);
  }

 private:
  static constexpr std::array<std::string_view, 2> kStateNames{"moment_1", "moment_2"};
  const RAdamConfig config_;
};

}  // namespace

ModuleOptimizer RAdamConfig::init() const {
  detail::check_rates("RAdamConfig", {{"beta_1", beta_1}, {"beta_2", beta_2}});
  detail::check_not_negative("RAdamConfig", {{"weight_decay", weight_decay}});
  // With an epsilon of 0 the first steps would divide 0 by 0 where a gradient is 0.
  if (!(epsilon > 0 && std::isfinite(epsilon)))
    nn::detail::reject("RAdamConfig", "epsilon is " + std::to_string(epsilon) + ", must be above 0 and finite");
  return ModuleOptimizer{std::make_shared<RAdam>(*this), grad_clipping};
}

}  // namespace burn::optim
