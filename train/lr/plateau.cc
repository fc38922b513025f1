#include "train/lr/plateau.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "train/lr/check_schedule.h"

namespace burn::lr {
namespace {

constexpr const char* kName = "lr::ReduceOnPlateau";

bool is_better(const ReduceOnPlateau& schedule, double metric) {
  const auto& best = schedule.state.best;
  if (!best) return !std::isnan(metric);
  const double margin = schedule.is_relative ? schedule.threshold * std::abs(*best) : schedule.threshold;
  return schedule.goal == Goal::lowest ? metric < *best - margin : metric > *best + margin;
}

}  // namespace

double ReduceOnPlateau::at(std::int64_t) const {
  return detail::checked(kName, "the rate", state.rate.value_or(initial));
}

void ReduceOnPlateau::tell(double metric) {
  const double old = at(done), least = detail::checked(kName, "min_lr", min_lr);
  (void)detail::checked(kName, "threshold", threshold);  // may throw
  (void)detail::checked(kName, "epsilon", epsilon);
  if (!(factor >= 0 && factor < 1)) {
    throw Error(StatusCode::invalid_argument,
                std::string{kName} + ": factor is " + std::to_string(factor) + ", must be at least 0 and below 1");
  }
  if (patience < 0 || cooldown < 0) {
    throw Error(StatusCode::invalid_argument, std::string{kName} + ": patience is " + std::to_string(patience) +
                                                  " and cooldown " + std::to_string(cooldown) +
                                                  ", neither may be negative");
  }
  if (is_better(*this, metric)) {
    state.best = metric;
    state.not_better = 0;
  } else {
    state.not_better += 1;
  }
  if (state.cooling > 0) {
    state.cooling -= 1;
    state.not_better = 0;
  }
  if (state.not_better <= patience) return;
  const double next = std::max(old * factor, least);
  if (old - next > epsilon) state.rate = next;
  state.cooling = cooldown;
  state.not_better = 0;
}

void ReduceOnPlateau::load_state_record(const std::string& json) {
  state = PlateauState::from_json(json, "the record of lr::ReduceOnPlateau");
}

}  // namespace burn::lr
