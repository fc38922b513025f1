// Any schedule together with the number of steps done, as the learner holds it.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "train/lr/schedule.h"

namespace burn::lr {

// A schedule that follows a metric (train/lr/plateau.h), or is made of such schedules: it has tell(metric) or
// tell(metric, steps done), and its state as text.
template <typename T>
concept MetricSchedule = Schedule<T> &&
                         (
                             requires(T& schedule) { schedule.tell(0.0); } ||
                             requires(T& schedule) { schedule.tell(0.0, std::int64_t{}); }) &&
                         requires(T& schedule, const std::string& text) {
                           { schedule.state_record() } -> std::convertible_to<std::string>;
                           schedule.load_state_record(text);
                         };

// A value; one thread at a time. Learner(model, optim, 1e-3) works too: a number is a constant schedule.
class Scheduler {
 public:
  // Errors (thrown), also of the functions below that return a rate: a rate that is negative, infinite or NaN.
  Scheduler(double rate);  // NOLINT: implicit on purpose
  template <Schedule S>
    requires(!std::same_as<S, Scheduler>)
  Scheduler(S schedule) {  // NOLINT: implicit on purpose
    if constexpr (requires { schedule.done; }) done_ = schedule.done;
    held_ = std::make_shared<const HeldSchedule<S>>(std::move(schedule));
  }

  double at(std::int64_t step) const;                            // rate of the i-th step, counted from 0
  double step() { return at(done_++); }                          // the rate of the next step
  double next() const { return at(done_); }                      // the same, without advancing
  double last() const { return at(done_ > 0 ? done_ - 1 : 0); }  // the rate of the last step
  std::int64_t done() const { return done_; }

  // Whether the rates follow a metric, which must then be passed to tell(), usually once per epoch.
  bool needs_metric() const { return held_->needs_metric(); }
  // A schedule that follows no metric ignores it. Errors (thrown): those of the schedule.
  void tell(double metric) {
    if (needs_metric()) held_ = held_->with_metric(metric, done_);
  }

  // The state as JSON; the schedule itself is not stored. Errors, without changing anything: a text that is not such a
  // record.
  std::string to_record() const;
  void load_record(const std::string& json);

 private:
  // A schedule of any type. Immutable, so that copies of a scheduler may share it.
  class Held {
   public:
    virtual ~Held() = default;
    virtual double at(std::int64_t step) const = 0;
    virtual bool needs_metric() const = 0;
    virtual std::shared_ptr<const Held> with_metric(double metric, std::int64_t done) const = 0;
    virtual std::string state() const = 0;  // empty: no state
    virtual std::shared_ptr<const Held> with_state(const std::string& state) const = 0;
  };
  template <Schedule S>
  class HeldSchedule final : public Held {
   public:
    explicit HeldSchedule(S schedule) : schedule_(std::move(schedule)) {}
    double at(std::int64_t step) const override { return static_cast<double>(schedule_.at(step)); }
    bool needs_metric() const override {
      if constexpr (!MetricSchedule<S>)
        return false;
      else if constexpr (requires { schedule_.needs_metric(); })
        return schedule_.needs_metric();
      else
        return true;
    }
    std::shared_ptr<const Held> with_metric(double metric, std::int64_t done) const override {
      return changed([&](auto& schedule) {
        if constexpr (requires { schedule.tell(metric, done); })
          schedule.tell(metric, done);
        else
          schedule.tell(metric);
      });
    }
    std::string state() const override {
      if constexpr (MetricSchedule<S>)
        return needs_metric() ? schedule_.state_record() : std::string{};
      else
        return {};
    }
    std::shared_ptr<const Held> with_state(const std::string& state) const override {
      return changed([&](auto& schedule) { schedule.load_state_record(state); });
    }

   private:
    template <typename Change>
    std::shared_ptr<const Held> changed([[maybe_unused]] Change&& change) const {
      S schedule = schedule_;
      if constexpr (MetricSchedule<S>) change(schedule);
      return std::make_shared<const HeldSchedule>(std::move(schedule));
    }
    S schedule_;
  };

  std::shared_ptr<const Held> held_;
  std::int64_t done_ = 0;
};

}  // namespace burn::lr
