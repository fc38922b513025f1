#include "train/optim/adan.h"

#include <array>
#include <cmath>

#include "client/ops/formula.h"
#include "train/optim/ranges.h"

namespace burn::optim {
namespace {

using client::Value;

class Adan : public TensorOptimizer {
 public:
  explicit Adan(const AdanConfig& config) : config_(config) {}

  std::string_view name() const override { return "adan"; }
  std::span<const std::string_view> state_names() const override { return kStateNames; }

  // The bias corrections of the moments are part of the numbers.
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

ModuleOptimizer AdanConfig::init() const {
  detail::check_rates("AdanConfig", {{"beta_1", beta_1}, {"beta_2", beta_2}, {"beta_3", beta_3}});
  detail::check_not_negative("AdanConfig", {{"epsilon", epsilon}, {"weight_decay", weight_decay}});
  return ModuleOptimizer{std::make_shared<Adan>(*this), grad_clipping};
}

}  // namespace burn::optim
