// Checks of schedules when they compute a rate. Private to train/lr/.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "train/lr/check_rate.h"

namespace burn::lr::detail {

// Returns the number as a double. Errors (thrown): "lr::Cosine: steps is 0, must be positive".
inline double positive(const char* schedule, const char* name, std::int64_t value) {
  if (value > 0) return static_cast<double>(value);
  throw Error(StatusCode::invalid_argument,
              std::string{schedule} + ": " + name + " is " + std::to_string(value) + ", must be positive");
}
inline double positive(const char* schedule, const char* name, double value) {
  if (value > 0 && std::isfinite(value)) return value;
  throw Error(StatusCode::invalid_argument,
              std::string{schedule} + ": " + name + " is " + std::to_string(value) + ", must be positive and finite");
}

// Checks a number of a schedule's configuration: a rate, or a factor of a rate.
inline double checked(const char* schedule, const char* name, double value) {
  check_rate(schedule, value, {}, name);
  return value;
}

// Checks the rate of a step: a factor above 1 may have made it infinite.
inline double rate_of_step(const char* schedule, std::int64_t step, double value) {
  if (!(value >= 0 && std::isfinite(value)))
    check_rate(schedule, value, {}, "the learning rate of step " + std::to_string(step));
  return value;
}

}  // namespace burn::lr::detail
