#include "train/tune/find_lr.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"

namespace burn::train::detail {
namespace {

void check(bool is_right, const std::string& what) {
  if (!is_right) throw Error(StatusCode::invalid_argument, "find_lr: " + what);
}

}  // namespace

LrRangeTest::LrRangeTest(const FindLrOptions& options) : options_(options) {
  check(options.first > 0 && options.last > options.first && std::isfinite(options.last),
        "the rates go from " + std::to_string(options.first) + " to " + std::to_string(options.last) +
            ", must be positive and rise");
  check(options.skipped >= 0, "skipped is " + std::to_string(options.skipped) + ", must not be negative");
  check(options.steps >= options.skipped + 3, "steps is " + std::to_string(options.steps) + ", must be at least " +
                                                  std::to_string(options.skipped + 3) + ", 3 more than skipped");
  check(options.smoothing >= 0 && options.smoothing < 1,
        "smoothing is " + std::to_string(options.smoothing) + ", must be at least 0 and below 1");
  check(options.stop_factor > 1, "stop_factor is " + std::to_string(options.stop_factor) + ", must be above 1");
}

double LrRangeTest::rate() const {
  const auto part = static_cast<double>(found_.rates.size()) / static_cast<double>(options_.steps - 1);
  return options_.first * std::pow(options_.last / options_.first, part);
}

void LrRangeTest::add(double loss) {
  if (!std::isfinite(loss)) {
    found_.ended_early = is_over_ = true;
    return;
  }
  found_.rates.push_back(rate());
  const auto count = static_cast<double>(found_.rates.size());
  mean_ = options_.smoothing * mean_ + (1 - options_.smoothing) * loss;
  const double smooth = mean_ / (1 - std::pow(options_.smoothing, count));  // bias-corrected
  lowest_ = found_.losses.empty() ? smooth : std::min(lowest_, smooth);
  found_.losses.push_back(smooth);
  const bool has_skipped = static_cast<std::int64_t>(found_.losses.size()) > options_.skipped;
  found_.ended_early = has_skipped && lowest_ > 0 && smooth > options_.stop_factor * lowest_;
  is_over_ = found_.ended_early || static_cast<std::int64_t>(found_.losses.size()) == options_.steps;
}

FoundLr LrRangeTest::result() const {
  const auto& losses = found_.losses;
  const auto skipped = static_cast<std::size_t>(options_.skipped);
  check(losses.size() >= skipped + 2, "the loss was not finite after " + std::to_string(losses.size()) +
                                          " steps, before there was anything to suggest");
  // Rates are equally far apart on their logarithmic scale, so the steepest fall is the largest difference.
  std::size_t best = skipped;
  for (std::size_t i = skipped; i + 1 < losses.size(); ++i) {
    if (losses[i + 1] - losses[i] < losses[best + 1] - losses[best]) best = i;
  }
  FoundLr found = found_;
  found.suggestion = found_.rates[best];
  return found;
}

}  // namespace burn::train::detail
