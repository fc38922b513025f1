#include "train/lr/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "train/lr/check_schedule.h"

namespace burn::lr {
using detail::checked;
using detail::positive;
using detail::rate_of_step;

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
  return rate_of_step("lr::Exponential", step,
                      from * std::pow(checked("lr::Exponential", "gamma", gamma), static_cast<double>(step)));
}

double Step::at(std::int64_t step) const {
  (void)positive("lr::Step", "step_size", step_size);  // may throw
  const double from = checked("lr::Step", "initial", initial);
  const std::int64_t drops = step / step_size;
  return rate_of_step("lr::Step", step,
                      from * std::pow(checked("lr::Step", "gamma", gamma), static_cast<double>(drops)));
}

double Noam::at(std::int64_t step) const {
  const double i = static_cast<double>(step + 1);
  const double warmup = positive("lr::Noam", "warmup_steps", warmup_steps);
  return checked("lr::Noam", "factor", factor) / std::sqrt(positive("lr::Noam", "model_size", model_size)) *
         std::min(1 / std::sqrt(i), i / (warmup * std::sqrt(warmup)));
}

}  // namespace burn::lr
