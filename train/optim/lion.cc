#include "train/optim/lion.h"

#include <array>

#include "client/ops/formula.h"
#include "train/optim/ranges.h"

namespace burn::optim {
namespace {

using client::Value;

class Lion : public TensorOptimizer {
 public:
  explicit Lion(const LionConfig& config) : config_(config) {}

  std::string_view name() const override { return "lion"; }
  std::span<const std::string_view> state_names() const override { return kStateNames; }

  std::vector<double> numbers(double lr, std::int64_t) const override {
    return {lr, config_.beta_1, 1 - config_.beta_1, config_.beta_2, 1 - config_.beta_2, 1 - lr * config_.weight_decay};
  }

  Value update(std::span<const Value> numbers, const Value& param, const Value& gradient,
               std::vector<Value>& state) const override {
    const auto &lr = numbers[0], &beta_1 = numbers[1], &fresh_1 = numbers[2];
    const auto &beta_2 = numbers[3], &fresh_2 = numbers[4], &decay = numbers[5];
    if (state.empty()) state.assign(1, zeros_like(param));
    const Value step = sign(state[0] * beta_1 + gradient * fresh_1);
    state[0] = state[0] * beta_2 + gradient * fresh_2;
    return (config_.weight_decay == 0 ? param : param * decay) - step * lr;
  }

 private:
  static constexpr std::array<std::string_view, 1> kStateNames{"momentum"};
  const LionConfig config_;
};

}  // namespace

ModuleOptimizer LionConfig::init() const {
  detail::check_rates("LionConfig", {{"beta_1", beta_1}, {"beta_2", beta_2}});
  detail::check_not_negative("LionConfig", {{"weight_decay", weight_decay}});
  return ModuleOptimizer{std::make_shared<Lion>(*this), grad_clipping};
}

}  // namespace burn::optim
