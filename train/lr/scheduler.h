// Any schedule together with where in it a training is: what the learner holds.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "train/lr/schedule.h"

namespace burn::lr {

// A value; one thread at a time. Learner(model, optim, 1e-3) works too: a number is a constant schedule.
class Scheduler {
 public:
  // Errors (thrown), as of the rates below: one that is negative, infinite or NaN.
  Scheduler(double rate) : Scheduler(Constant{.rate = rate}) { (void)at(0); }  // NOLINT: implicit on purpose
  template <Schedule S>
    requires(!std::same_as<S, Scheduler>)
  Scheduler(S schedule) {  // NOLINT: implicit on purpose
    if constexpr (requires { schedule.done; }) done_ = schedule.done;
    at_ = [schedule = std::move(schedule)](std::int64_t step) { return static_cast<double>(schedule.at(step)); };
  }

  double at(std::int64_t step) const;                            // of the i-th step, counted from 0
  double step() { return at(done_++); }                          // the rate of the next step
  double next() const { return at(done_); }                      // the same, without taking the step
  double last() const { return at(done_ > 0 ? done_ - 1 : 0); }  // the rate of the step before
  std::int64_t done() const { return done_; }

  // Where it is, as JSON; the schedule itself belongs to the program. Errors: text that is no such record.
  std::string to_record() const;
  void load_record(const std::string& json);

 private:
  std::function<double(std::int64_t)> at_;
  std::int64_t done_ = 0;
};

}  // namespace burn::lr
