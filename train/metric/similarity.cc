#include "train/metric/similarity.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "client/ops/formula.h"
#include "client/tensor/untyped.h"

namespace burn::metric {
namespace {

using client::Value;

// f32 [1, 1, window, 1]: normalised.
Value gaussian_column(const Value& like, const SimilarityConstants& constants) {
  std::vector<double> weights(static_cast<std::size_t>(constants.window));
  const auto middle = constants.window / 2;
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double x = static_cast<double>(i) - static_cast<double>(middle);
    weights[i] = std::exp(-x * x / (2 * constants.sigma * constants.sigma));
    sum += weights[i];
  }
  std::vector<Value> parts;
  parts.reserve(weights.size());
  for (const double weight : weights) {  // constants of the program, so that no step uploads them
    parts.push_back(
        client::filled(client::place_of(like), {1, 1, 1, 1}, weight / sum, ir::DType::f32, client::current_site()));
  }
  return client::concat(parts, 2, client::current_site());
}

}  // namespace

Similarity similarity(const Value& x, const Value& y, const SimilarityConstants& constants) {
  const auto& site = client::current_site();
  if (x.dim(2) < constants.window || x.dim(3) < constants.window) {
    throw Error(StatusCode::invalid_argument, fmt::format("images of {} x {} pixels are smaller than the window of {}",
                                                          x.dim(2), x.dim(3), constants.window));
  }
  const auto column = gaussian_column(x, constants), row = client::swap_dims(column, 2, 3, site);
  const ir::Conv options{.stride = {1, 1}, .pad_begin = {0, 0}, .pad_end = {0, 0}, .dilation = {1, 1}, .groups = 1};
  const auto local_mean = [&](const Value& image) {
    return client::conv(client::conv(image, column, nullptr, options, site), row, nullptr, options, site);
  };
  // Subtracting a constant from an image does not change variances. Around the mean the squares are small, and so is
  // the cancellation error of E[x^2] - E[x]^2 in f32.
  const auto x_mean = client::mean(x, {1, 2, 3}, site), y_mean = client::mean(y, {1, 2, 3}, site);
  const auto dx = x - x_mean, dy = y - y_mean;
  const auto mdx = local_mean(dx), mdy = local_mean(dy);
  const auto vx = client::max(local_mean(dx * dx) - mdx * mdx, 0.0);
  const auto vy = client::max(local_mean(dy * dy) - mdy * mdy, 0.0);
  const auto cov = local_mean(dx * dy) - mdx * mdy;
  const auto mx = mdx + x_mean, my = mdy + y_mean;
  return {(mx * my * 2.0 + constants.c1) / (mx * mx + my * my + constants.c1),
          (cov * 2.0 + constants.c2) / (vx + vy + constants.c2)};
}

}  // namespace burn::metric
