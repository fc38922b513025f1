#include "train/lr/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "base/error.h"
#include "train/lr/check_rate.h"

namespace burn::lr {
namespace {

double positive(const char* schedule, const char* name, std::int64_t value) {
  if (value <= 0) {
    throw Error(StatusCode::invalid_argument,
                std::string{schedule} + ": " + name + " is " + std::to_string(value) + ", must be positive");
  }
  return static_cast<double>(value);
}

// A number of a schedule's configuration: a rate, or a factor of one.
double checked(const char* schedule, const char* name, double value) {
  check_rate(schedule, value, {}, name);
  return value;
}

// The rate of a step: a factor above 1 may have made it infinite.
double rate(const char* schedule, std::int64_t step, double value) {
  if (!(value >= 0 && std::isfinite(value)))
    check_rate(schedule, value, {}, "the learning rate of step " + std::to_string(step));
  return value;
}

}  // namespace

double Constant::at(std::int64_t) const { return checked("lr::Constant", "rate", rate); }

double Linear::at(std::int64_t step) const {
  const double total = positive("lr::Linear", "steps", steps);
  const double from = checked("lr::Linear", "initial", initial), to = checked("lr::Linear", "final_lr", final_lr);
  if (step >= steps) return to;
  return from + (to - from) * static_cast<double>(step) / total;
}

double Cosine::at(std::int64_t step) const {
  const double part = static_cast<double>(step) / positive("lr::Cosine", "steps", steps);
  const double from = checked("lr::Cosine", "initial", initial), to = checked("lr::Cosine", "min_lr", min_lr);
  return to + (from - to) * (1 + std::cos(std::numbers::pi * part)) / 2;
}

double Exponential::at(std::int64_t step) const {
  const double from = checked("lr::Exponential", "initial", initial);
  return rate("lr::Exponential", step,
              from * std::pow(checked("lr::Exponential", "gamma", gamma), static_cast<double>(step)));
}

double Step::at(std::int64_t step) const {
  (void)positive("lr::Step", "step_size", step_size);  // throws
  const double from = checked("lr::Step", "initial", initial);
  return rate("lr::Step", step,
              from * std::pow(checked("lr::Step", "gamma", gamma), static_cast<double>(step / step_size)));
}

double Noam::at(std::int64_t step) const {
  const double i = static_cast<double>(step + 1);
  const double warmup = positive("lr::Noam", "warmup_steps", warmup_steps);
  return checked("lr::Noam", "factor", factor) / std::sqrt(positive("lr::Noam", "model_size", model_size)) *
         std::min(1 / std::sqrt(i), i / (warmup * std::sqrt(warmup)));
}

}  // namespace burn::lr
