#include "train/optim/muon.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "client/fail.h"
#include "client/ops/formula.h"
#include "train/optim/ranges.h"

namespace burn::optim {
namespace {

using client::current_site;
using client::Value;

class Muon : public TensorOptimizer {
 public:
  explicit Muon(const MuonConfig& config) : config_(config) {}

  std::string_view name() const override { return "muon"; }
  std::span<const std::string_view> state_names() const override { return kStateNames; }

  std::vector<double> numbers(double lr, std::int64_t) const override {
    return {lr, 1 - lr * config_.weight_decay, config_.momentum.momentum, 1 - config_.momentum.dampening};
  }

  Value update(std::span<const Value> numbers, const Value& param, const Value& gradient,
               std::vector<Value>& state) const override {
    const auto &lr = numbers[0], &decay = numbers[1], &momentum = numbers[2], &fresh = numbers[3];
    if (param.rank() != 2) {
      client::fail("muon: takes matrices, but a parameter is " + ir::to_string(param.type()), current_site());
    }
    const Value velocity = state.empty() ? gradient : state[0] * momentum + gradient * fresh;
    state = {velocity};
    const Value ahead = config_.momentum.nesterov ? gradient + velocity * momentum : velocity;
    const Value step = orthogonal(ahead) * ratio(param.shape());
    return (config_.weight_decay == 0 ? param : param * decay) - step * lr;
  }

 private:
  double ratio(const ir::Shape& shape) const {
    const auto a = static_cast<double>(shape[0]), b = static_cast<double>(shape[1]);
    return config_.adjust_lr_fn == AdjustLrFn::original ? std::sqrt(std::max(1.0, a / b))
                                                        : 0.2 * std::sqrt(std::max(a, b));
  }

  // The iteration uses the smaller of the two square products.
  Value orthogonal(const Value& matrix) const {
    const bool is_tall = matrix.dim(0) > matrix.dim(1);
    const auto turned = [&](const Value& x) { return client::swap_dims(x, 0, 1, current_site()); };
    const auto product = [](const Value& a, const Value& b) { return client::matmul(a, b, current_site()); };
    return client::in_compute_dtype(matrix, current_site(), [&](const Value& given) {
      Value x = is_tall ? turned(given) : given;
      const Value norm = sqrt(client::reduce(ir::ReduceFn::sum, x * x, {0, 1}, current_site()));
      x = x / max(norm, config_.epsilon);
      const auto& [a, b, c] = config_.ns_coefficients;
      for (std::int64_t i = 0; i < config_.ns_steps; ++i) {
        const Value square = product(x, turned(x));
        x = x * a + product(square * b + product(square, square) * c, x);
      }
      return is_tall ? turned(x) : x;
    });
  }

  static constexpr std::array<std::string_view, 1> kStateNames{"velocity"};
  const MuonConfig config_;
};

}  // namespace

ModuleOptimizer MuonConfig::init() const {
  nn::detail::check_at_least("MuonConfig", "ns_steps", ns_steps, 1);
  detail::check_not_negative("MuonConfig",
                             {{"momentum", momentum.momentum}, {"epsilon", epsilon}, {"weight_decay", weight_decay}});
  return ModuleOptimizer{std::make_shared<Muon>(*this), grad_clipping};
}

}  // namespace burn::optim
