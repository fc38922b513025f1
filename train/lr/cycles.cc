#include "train/lr/cycles.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "train/lr/check_schedule.h"

namespace burn::lr {

using detail::checked;
using detail::positive;
using detail::rate_of_step;

namespace {

// Interpolates between `from` (part = 0) and `to` (part = 1).
double between(Annealing annealing, double from, double to, double part) {
  if (annealing == Annealing::linear) return from + (to - from) * part;
  return to + (from - to) * (1 + std::cos(std::numbers::pi * part)) / 2;
}

}  // namespace

double OneCycle::at(std::int64_t step) const {
  const double total = positive("lr::OneCycle", "steps", steps), most = checked("lr::OneCycle", "max_lr", max_lr);
  const double first = most / positive("lr::OneCycle", "div_factor", div_factor);
  const double last = first / positive("lr::OneCycle", "final_div_factor", final_div_factor);
  if (!(rising >= 0 && rising <= (three_phases ? 0.5 : 1))) {
    throw Error(StatusCode::invalid_argument, "lr::OneCycle: rising is " + std::to_string(rising) +
                                                  ", must be between 0 and " + (three_phases ? "0.5" : "1"));
  }
  // Phases end at steps that are counted from 0, hence the minus one.
  const double top = rising * total - 1, end = total - 1, position = std::min(static_cast<double>(step), end);
  const auto phase = [&](double from, double to, double begin, double finish) {
    const double part = finish > begin ? (position - begin) / (finish - begin) : 1;
    return between(annealing, from, to, part);
  };
  if (position <= top) return phase(first, most, 0, top);
  const double begin = std::max(top, 0.0);
  if (!three_phases) return phase(most, last, begin, end);
  const double back = 2 * rising * total - 2;
  return position <= back ? phase(most, first, begin, back) : phase(first, last, std::max(back, 0.0), end);
}

double CosineWarmRestarts::at(std::int64_t step) const {
  const double from = checked("lr::CosineWarmRestarts", "initial", initial);
  const double to = checked("lr::CosineWarmRestarts", "min_lr", min_lr);
  double length = positive("lr::CosineWarmRestarts", "steps", steps);
  const double factor = positive("lr::CosineWarmRestarts", "longer", longer);
  auto into = static_cast<double>(step);
  if (longer == 1) into = std::fmod(into, length);
  for (; into >= length; length *= factor) into -= length;
  return between(Annealing::cosine, from, to, into / length);
}

double Polynomial::at(std::int64_t step) const {
  const double total = positive("lr::Polynomial", "steps", steps);
  const double from = checked("lr::Polynomial", "initial", initial),
               to = checked("lr::Polynomial", "final_lr", final_lr);
  const double left = std::max(0.0, 1 - static_cast<double>(step) / total);
  return rate_of_step("lr::Polynomial", step,
                      to + (from - to) * std::pow(left, positive("lr::Polynomial", "power", power)));
}

double MultiStep::at(std::int64_t step) const {
  std::int64_t before = 0;
  for (const auto milestone : milestones) {
    if (milestone <= before) {
      throw Error(StatusCode::invalid_argument, "lr::MultiStep: milestone " + std::to_string(milestone) + " after " +
                                                    std::to_string(before) + ": they must be positive and rise");
    }
    before = milestone;
  }
  const auto passed = std::ranges::upper_bound(milestones, step) - milestones.begin();
  return rate_of_step("lr::MultiStep", step,
                      checked("lr::MultiStep", "initial", initial) *
                          std::pow(checked("lr::MultiStep", "gamma", gamma), static_cast<double>(passed)));
}

double Cyclic::at(std::int64_t step) const {
  const double low = checked("lr::Cyclic", "min_lr", min_lr), high = checked("lr::Cyclic", "max_lr", max_lr);
  const double up = positive("lr::Cyclic", "steps_up", steps_up);
  const double down = steps_down ? positive("lr::Cyclic", "steps_down", *steps_down) : up;
  const auto i = static_cast<double>(step);
  const double cycle = std::floor(i / (up + down)), into = i - cycle * (up + down);
  const double height = into <= up ? into / up : 1 - (into - up) / down;
  double scale = 1;
  if (rule == CycleRule::halving) scale = std::pow(0.5, cycle);
  if (rule == CycleRule::exponential) scale = std::pow(checked("lr::Cyclic", "gamma", gamma), i);
  return rate_of_step("lr::Cyclic", step, low + (high - low) * height * scale);
}

}  // namespace burn::lr
