#include "train/optim/ada_grad.h"

#include <array>

#include "client/ops/formula.h"
#include "train/optim/ranges.h"

namespace burn::optim {
namespace {

using client::Value;

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

}  // namespace

ModuleOptimizer AdaGradConfig::init() const {
  detail::check_not_negative("AdaGradConfig",
                             {{"lr_decay", lr_decay}, {"epsilon", epsilon}, {"weight_decay", weight_decay}});
  return ModuleOptimizer{std::make_shared<AdaGrad>(*this), grad_clipping};
}

}  // namespace burn::optim
