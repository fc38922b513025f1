#include "train/optim/sgd.h"

#include <array>

#include "client/ops/formula.h"
#include "train/optim/ranges.h"

namespace burn::optim {
namespace {

using client::Value;

class Sgd : public TensorOptimizer {
 public:
  explicit Sgd(const SgdConfig& config) : config_(config) {}

  std::string_view name() const override { return "sgd"; }
  std::span<const std::string_view> state_names() const override {
    return std::span{kStateNames}.first(config_.momentum ? 1 : 0);
  }

  std::vector<double> numbers(double lr, std::int64_t) const override {
    const auto momentum = config_.momentum.value_or(MomentumConfig{});
    return {lr, config_.weight_decay, momentum.momentum, 1 - momentum.dampening};
  }

  Value update(std::span<const Value> numbers, const Value& param, const Value& gradient,
               std::vector<Value>& state) const override {
    const auto &lr = numbers[0], &weight_decay = numbers[1], &momentum = numbers[2], &fresh = numbers[3];
    Value g = gradient;
    if (config_.weight_decay != 0) g = g + param * weight_decay;
    if (config_.momentum) {
      const auto velocity = state.empty() ? g : state[0] * momentum + g * fresh;
      g = config_.momentum->nesterov ? g + velocity * momentum : velocity;
      state = {velocity};
    }
    return param - g * lr;
  }

  // With momentum, sparse gradients become dense, as in PyTorch: a velocity moves every row that ever had a gradient.
  SparseSupport sparse_gradients() const override {
    if (config_.weight_decay != 0) return {.refusal = "its weight_decay is not 0 and changes every row"};
    return {.as_dense = config_.momentum.has_value()};
  }

 private:
  static constexpr std::array<std::string_view, 1> kStateNames{"velocity"};
  const SgdConfig config_;
};

}  // namespace

ModuleOptimizer SgdConfig::init() const {
  detail::check_not_negative("SgdConfig", {{"weight_decay", weight_decay}});
  if (momentum) detail::check_not_negative("SgdConfig", {{"momentum", momentum->momentum}});
  return ModuleOptimizer{std::make_shared<Sgd>(*this), grad_clipping};
}

}  // namespace burn::optim
