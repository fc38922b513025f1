#include "nn/attention/positions.h"

#include <cmath>

#include "client/fail.h"
#include "client/ops/formula.h"
#include "nn/module/checks.h"

namespace burn::nn {

using client::Site;
using client::Value;

namespace {

void check_even(const char* config, std::int64_t d_model) {
  detail::check_at_least(config, "d_model", d_model, 1);
  if (d_model % 2 != 0) detail::reject(config, "d_model is " + std::to_string(d_model) + ", must be even");
}

// rates[k] = base^(-2k / d)
std::vector<double> rates_of(double base, std::int64_t d_model) {
  std::vector<double> rates(static_cast<std::size_t>(d_model / 2));
  for (std::size_t k = 0; k < rates.size(); ++k) {
    rates[k] = std::pow(base, -2.0 * static_cast<double>(k) / static_cast<double>(d_model));
  }
  return rates;
}

// Two numbers for each position and rate, computed on the host in f64: angles of thousands of radians need its
// precision.
template <typename Pair>
Tensor<3> table(std::int64_t first, std::int64_t count, const std::vector<double>& rates, const ir::Shape& shape,
                const Device& device, Pair&& pair) {
  std::vector<float> numbers;
  numbers.reserve(static_cast<std::size_t>(count) * rates.size() * 2);
  for (std::int64_t i = first; i < first + count; ++i) {
    for (const double rate : rates) {
      const std::pair<double, double> two = pair(static_cast<double>(i) * rate);
      numbers.push_back(static_cast<float>(two.first));
      numbers.push_back(static_cast<float>(two.second));
    }
  }
  return Tensor<3>::from_data(TensorData(std::move(numbers), shape), device);
}

void fill(RotaryEncoding& encoding, std::int64_t first, std::int64_t count, const Device& device) {
  const ir::Shape shape{count, static_cast<std::int64_t>(encoding.rates.size()), 2};
  encoding.first = first;
  encoding.cosines = table(first, count, encoding.rates, shape, device, [](double angle) {
    return std::pair{std::cos(angle), std::cos(angle)};
  });
  encoding.sines = table(first, count, encoding.rates, shape, device, [](double angle) {
    return std::pair{-std::sin(angle), std::sin(angle)};
  });
}

}  // namespace

PositionalEncoding PositionalEncodingConfig::init(const Device& device) const {
  check_even("PositionalEncodingConfig", d_model);
  detail::check_at_least("PositionalEncodingConfig", "max_sequence_size", max_sequence_size, 1);
  detail::check_at_least("PositionalEncodingConfig", "max_timescale", max_timescale, 1);
  const auto rates = rates_of(static_cast<double>(max_timescale), d_model);
  return {.sinusoids = table(0, max_sequence_size, rates, {1, max_sequence_size, d_model}, device, [](double angle) {
            return std::pair{std::sin(angle), std::cos(angle)};
          })};
}

Value PositionalEncoding::apply(const Value& x, const Site& site) const {
  const Value& all = sinusoids.value();
  detail::check_rank("positional_encoding", x, 3, site);
  client::fail_if_empty(all, "PositionalEncoding: sinusoids", site);
  if (x.dim(2) != all.dim(2) || x.dim(1) > all.dim(1)) {
    client::fail("positional_encoding: the layer is for sequences of at most " + std::to_string(all.dim(1)) + " by " +
                     std::to_string(all.dim(2)) + ", the input is " + ir::to_string(x.type()),
                 site);
  }
  const Value rows = client::narrow(all, 1, 0, x.dim(1), site);
  return client::in_compute_dtype(x, site,
                                  [&](const Value& wide) { return wide + client::cast(rows, wide.dtype(), site); });
}

RotaryEncoding RotaryEncodingConfig::init(const Device& device) const {
  return init_with_frequency_scaling([](double rate) { return rate; }, device);
}

RotaryEncoding RotaryEncodingConfig::init_with_frequency_scaling(const std::function<double(double)>& scaling,
                                                                 const Device& device) const {
  check_even("RotaryEncodingConfig", d_model);
  detail::check_at_least("RotaryEncodingConfig", "max_sequence_length", max_sequence_length, 1);
  if (!(theta > 0)) detail::reject("RotaryEncodingConfig", "theta is " + std::to_string(theta) + ", must be positive");
  RotaryEncoding encoding;
  encoding.rates = rates_of(theta, d_model);
  for (double& rate : encoding.rates) rate = scaling(rate);
  fill(encoding, 0, max_sequence_length, device);
  return encoding;
}

void RotaryEncoding::shift(std::int64_t start, Loc where) {
  if (start < 0) client::fail("rotary_encoding: shifted to position " + std::to_string(start), at(where));
  fill(*this, start, cosines.dim(0, where), cosines.device(where));
}

Value RotaryEncoding::apply(const Value& x, std::int64_t start, const Site& site) const {
  detail::check_rank_at_least("rotary_encoding", x, 2, site);
  client::fail_if_empty(cosines.value(), "RotaryEncoding: cosines", site);
  const auto rows = cosines.value().dim(0), pairs = cosines.value().dim(1), time = x.dim(-2);
  if (x.dim(-1) != 2 * pairs) {
    client::fail("rotary_encoding: the layer has d_model " + std::to_string(2 * pairs) + ", the input is " +
                     ir::to_string(x.type()),
                 site);
  }
  if (start < first || start + time > first + rows) {
    client::fail("rotary_encoding: rows " + std::to_string(start) + " to " + std::to_string(start + time) +
                     ", but the layer has those from " + std::to_string(first) + " to " + std::to_string(first + rows),
                 site);
  }
  return client::in_compute_dtype(x, site, [&](const Value& wide) {
    ir::Shape shape = x.shape();  // [..., time, pair, 2]; leading dims are merged if the rank would become too large
    if (shape.rank() == ir::kMaxRank)
      shape = {ir::num_elements(x.shape()) / std::max<std::int64_t>(time * pairs * 2, 1), time, 0};
    shape[shape.rank() - 1] = pairs;
    shape.push_back(2);
    const Value split = client::reshape(wide, shape, site);
    const auto table = [&](const Tensor<3>& all) {
      ir::Shape line = ir::Shape::filled(shape.rank(), 1);
      for (int i = 1; i <= 3; ++i) line[shape.rank() - i] = shape[shape.rank() - i];
      const Value part = client::narrow(all.value(), 0, start - first, time, site);
      return client::reshape(client::cast(part, wide.dtype(), site), line, site);
    };
    const std::int64_t last[] = {-1};
    const Value turned = split * table(cosines) + client::flip(split, last, site) * table(sines);
    return client::reshape(turned, x.shape(), site);
  });
}

}  // namespace burn::nn
