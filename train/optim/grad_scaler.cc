#include "train/optim/grad_scaler.h"

#include <limits>
#include <string>

#include "base/error.h"
#include "client/autocast.h"
#include "client/ops/formula.h"

namespace burn::optim {
namespace {

using client::current_site;
using client::Value;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSmallest = 0x1p-126;  // 1 / factor is finite

// Whether none of the numbers is infinite or NaN: [1]. The maximum is NaN if any number is, and comparisons with NaN
// are false.
Tensor<1, Bool> is_finite(const Value& x) {
  const Value largest = client::reduce_all(ir::ReduceFn::max, abs(x), current_site());
  return Tensor<1, Bool>{client::cast(largest < kInfinity, DType::bool_, current_site())};
}

void check(bool is_right, const char* what) {
  if (!is_right) throw Error(StatusCode::invalid_argument, std::string{"GradScalerConfig: "} + what);
}

}  // namespace

GradScaler::GradScaler(const GradScalerConfig& config, const Device& device)
    : growth_(config.growth),
      backoff_(config.backoff),
      growth_interval_(static_cast<double>(config.growth_interval)),
      factor_(Tensor<1>::full({1}, config.initial, device.inner())),
      taken_(Tensor<1>::zeros({1}, device.inner())) {}

GradScaler GradScalerConfig::init(const Device& device) const {
  check(initial > 0 && initial < kInfinity, "the first factor must be positive");
  check(growth >= 1 && growth < kInfinity, "growth must be at least 1");
  check(backoff > 0 && backoff <= 1, "backoff must be above 0, and 1 at most");
  check(growth_interval > 0, "growth_interval must be positive");
  return {*this, device};
}

Tensor<1> GradScaler::scale(const Tensor<1>& loss, Loc where) const {
  const Value wide = client::cast(loss.value(), DType::f32, at(where));
  return Tensor<1>{client::pointwise(ir::PointwiseFn::mul, wide, factor_.value(), at(where))};
}

GradientsParams GradScaler::unscale(GradientsParams gradients, Loc where) {
  const client::SiteScope scope{at(where)};
  const Autocast pause{DType::f32};
  const Value inverse = client::reshape(factor_.recip().value(), ir::Shape{}, current_site());
  std::optional<Tensor<1, Bool>> all_finite;
  gradients.for_each([&](Value& gradient) {
    const Value wide = client::to_compute_dtype(gradient, current_site());
    const auto is_this = is_finite(wide);
    all_finite = all_finite ? all_finite->bool_and(is_this) : is_this;
    gradient =
        client::cast(wide * client::cast(inverse, wide.dtype(), current_site()), gradient.dtype(), current_site());
  });
  if (!all_finite) return gradients;
  gradients.take_step_only_if(*all_finite);

  const Tensor<1> taken = taken_ + 1, grown = factor_ * growth_;
  const auto is_due = taken.greater_equal(growth_interval_);
  const auto kept_or_grown = factor_.mask_where(is_due.bool_and(grown.lower(kInfinity)), grown);
  const auto factor = (factor_ * backoff_).clamp_min(kSmallest).mask_where(*all_finite, kept_or_grown);
  const auto in_a_row = Tensor<1>::zeros_like(taken).mask_where(all_finite->bool_and(is_due.bool_not()), taken);
  // A failed batch does not change the factor.
  factor_ = Tensor<1>{client::kept_if_failed(factor.value(), factor_.value(), current_site())};
  taken_ = Tensor<1>{client::kept_if_failed(in_a_row.value(), taken_.value(), current_site())};
  return gradients;
}

}  // namespace burn::optim
