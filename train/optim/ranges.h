// Range checks for the init() of optimizers' configurations. Each throws burn::Error: "AdamConfig: beta_1 is 1.5, must
// be at least 0 and below 1".
#pragma once

#include <cmath>
#include <initializer_list>
#include <sstream>

#include "nn/module/checks.h"

namespace burn::optim::detail {

struct Field {
  const char* name;
  double value;
};

inline void check_range(const char* config, const Field& field, double below, const char* range) {
  if (field.value >= 0 && field.value < below) return;  // false for NaN
  std::ostringstream text;
  text << field.name << " is " << field.value << ", must be " << range;
  nn::detail::reject(config, text.str());
}

// Checks decay rates of running means: at 1 a mean would ignore all gradients, and 1 - rate^step, the bias correction,
// would be 0.
inline void check_rates(const char* config, std::initializer_list<Field> fields) {
  for (const auto& field : fields) check_range(config, field, 1, "at least 0 and below 1");
}

inline void check_not_negative(const char* config, std::initializer_list<Field> fields) {
  for (const auto& field : fields) check_range(config, field, HUGE_VAL, "at least 0 and finite");
}

}  // namespace burn::optim::detail
