#include "train/optim/ada_factor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "client/ops/formula.h"
#include "train/optim/ranges.h"

namespace burn::optim {
namespace {

using client::current_site;
using client::Value;

// The root of the mean square of all elements: [].
Value root_mean_square(const Value& x) {
  return client::reshape(sqrt(client::mean_all(x * x, current_site())), ir::Shape{}, current_site());
}

class AdaFactor : public TensorOptimizer {
 public:
  explicit AdaFactor(const AdaFactorConfig& config) : config_(config) {}

  std::string_view name() const override { return "ada_factor"; }
  std::span<const std::string_view> state_names() const override { return kStateNames; }
  // For a vector all squares; otherwise the means along the last dim and along the second to last.
  std::vector<StateTensor> state_tensors(const ir::Shape& param) const override {
    const int rank = param.rank();
    if (rank < 2) return {{kStateNames[0], param}};
    ir::Shape rows = param, columns = param;
    rows[rank - 1] = 1;
    columns[rank - 2] = 1;
    return {{kStateNames[1], rows}, {kStateNames[2], columns}};
  }

  std::vector<double> numbers(double lr, std::int64_t step) const override {
    const auto t = static_cast<double>(step);
    const double fresh = std::pow(t, config_.beta2_decay);
    return {1 - fresh,
            fresh,
            std::min(lr, 1 / std::sqrt(t)),
            1 - lr * config_.weight_decay,
            config_.epsilon_2,
            config_.clip_threshold};
  }

  Value update(std::span<const Value> numbers, const Value& param, const Value& gradient,
               std::vector<Value>& state) const override {
    const auto &kept = numbers[0], &fresh = numbers[1], &rate = numbers[2], &decay = numbers[3];
    const auto &epsilon_2 = numbers[4], &clip_threshold = numbers[5];
    const auto averaged = [&](std::size_t i, const Value& square) {
      state[i] = state[i].has_value() ? state[i] * kept + square * fresh : square * fresh;
    };
    const double epsilon_1 =
        config_.epsilon_1.value_or(param.dtype() == ir::DType::f64 ? std::numeric_limits<double>::epsilon()
                                                                   : std::numeric_limits<float>::epsilon());
    const Value square = gradient * gradient;
    Value variance;
    if (param.rank() < 2) {
      state.resize(1);
      averaged(0, square);
      variance = state[0];
    } else {
      const int last = param.rank() - 1;
      state.resize(2);
      averaged(0, client::mean(square, {last}, current_site()));
      averaged(1, client::mean(square, {last - 1}, current_site()));
      const Value of_rows = client::mean(state[0], {last - 1}, current_site());
      variance = state[0] * state[1] / max(of_rows, epsilon_1);
    }
    const Value update = gradient / sqrt(max(variance, epsilon_1 * epsilon_1));
    const Value size = max(root_mean_square(param), epsilon_2) * rate;
    const Value clip = max(root_mean_square(update) / clip_threshold, 1.0);
    return (config_.weight_decay == 0 ? param : param * decay) - update * (size / clip);
  }

 private:
  static constexpr std::array<std::string_view, 3> kStateNames{"square_mean", "row_mean", "column_mean"};
  const AdaFactorConfig config_;
};

}  // namespace

ModuleOptimizer AdaFactorConfig::init() const {
  detail::check_not_negative("AdaFactorConfig", {{"epsilon_2", epsilon_2}, {"weight_decay", weight_decay}});
  if (epsilon_1) detail::check_not_negative("AdaFactorConfig", {{"epsilon_1", *epsilon_1}});
  if (!(clip_threshold > 0 && std::isfinite(clip_threshold)))
    nn::detail::reject("AdaFactorConfig", "clip_threshold is " + std::to_string(clip_threshold) + ", must be positive");
  if (!(beta2_decay <= 0 && std::isfinite(beta2_decay)))
    nn::detail::reject("AdaFactorConfig", "beta2_decay is " + std::to_string(beta2_decay) + ", must not be above 0");
  return ModuleOptimizer{std::make_shared<AdaFactor>(*this), grad_clipping};
}

}  // namespace burn::optim
