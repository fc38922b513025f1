#include "train/lr/schedule.h"

#include <cmath>
#include <numbers>
#include <string>

#include "base/error.h"

namespace burn::lr {
namespace {

double positive(const char* schedule, const char* name, std::int64_t value) {
  if (value <= 0) {
    throw Error(StatusCode::invalid_argument,
                std::string{schedule} + ": " + name + " is " + std::to_string(value) + ", must be positive");
  }
  return static_cast<double>(value);
}

}  // namespace

double Linear::at(std::int64_t step) const {
  const double total = positive("lr::Linear", "steps", steps);
  if (step >= steps) return final_lr;
  return initial + (final_lr - initial) * static_cast<double>(step) / total;
}

double Cosine::at(std::int64_t step) const {
  const double part = static_cast<double>(step) / positive("lr::Cosine", "steps", steps);
  return min_lr + (initial - min_lr) * (1 + std::cos(std::numbers::pi * part)) / 2;
}

double Exponential::at(std::int64_t step) const { return initial * std::pow(gamma, static_cast<double>(step)); }

double Step::at(std::int64_t step) const {
  (void)positive("lr::Step", "step_size", step_size);  // throws
  return initial * std::pow(gamma, static_cast<double>(step / step_size));
}

double Noam::at(std::int64_t step) const {
  const double i = static_cast<double>(step + 1);
  const double warmup = positive("lr::Noam", "warmup_steps", warmup_steps);
  return factor / std::sqrt(positive("lr::Noam", "model_size", model_size)) *
         std::min(1 / std::sqrt(i), i / (warmup * std::sqrt(warmup)));
}

}  // namespace burn::lr
