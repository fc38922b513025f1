// A learning rate that is reduced when a metric no longer improves.
//
//   lr::Scheduler schedule = lr::ReduceOnPlateau{.initial = 1e-3, .patience = 3};
//   for (...) {                          // epochs
//     ... schedule.step() ...            // the rate of each step
//     schedule.tell(validation_loss);    // once an epoch
//   }
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nn/module/config.h"

namespace burn::lr {

enum class Goal : std::uint8_t { lowest, highest };
constexpr std::array<std::string_view, 2> enum_names(Goal) { return {"lowest", "highest"}; }

// The state of a ReduceOnPlateau.
struct PlateauState {
  std::optional<double> rate{};  // none: the initial rate
  std::optional<double> best{};  // best metric so far
  std::int64_t not_better = 0;   // successive calls of tell() without improvement
  std::int64_t cooling = 0;      // remaining calls of tell() to ignore
  BURN_CONFIG(PlateauState, rate, best, not_better, cooling)
};

// As torch.optim.lr_scheduler.ReduceLROnPlateau, with its defaults. After more than `patience` successive calls of
// tell() without an improvement of the best metric, the rate is multiplied by `factor`, but does not fall below
// `min_lr`; the next `cooldown` calls do not count. An improvement is a change by more than `threshold` times the best,
// or without is_relative by more than `threshold`. NaN is no improvement. The rate does not depend on the step.
struct ReduceOnPlateau {
  double initial = 1e-3;
  double factor = 0.1;
  std::int64_t patience = 10;
  double threshold = 1e-4;
  bool is_relative = true;
  std::int64_t cooldown = 0;
  double min_lr = 0;
  double epsilon = 1e-8;  // smaller or equal changes of the rate are not made
  Goal goal = Goal::lowest;
  PlateauState state{};
  std::int64_t done = 0;
  BURN_CONFIG(ReduceOnPlateau, initial, factor, patience, threshold, is_relative, cooldown, min_lr, epsilon, goal,
              state, done)

  // Errors (thrown), of both: a rate or threshold that is negative, infinite or NaN; a factor of 1 or more; a negative
  // count.
  double at(std::int64_t step) const;
  void tell(double metric);
  double step() { return at(done++); }

  // For Scheduler: `state` as JSON. Errors: a text that is not such a record.
  std::string state_record() const { return state.to_json(); }
  void load_state_record(const std::string& json);
};

}  // namespace burn::lr
