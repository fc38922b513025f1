// Averages of a module's weights over its training: exponential (EMA), or the mean of all (SWA). They are evaluated and
// saved in place of the weights themselves.
//
//   auto ema = optim::Ema{.decay = 0.999}.init(net);
//   net = optim.step(1e-3, std::move(net), GradientsParams::from_grads(loss.backward(), net), ema);
//   ...
//   const Net mean = ema.model();  // to validate with
//
// An update is part of the program of the step: nothing is read and nothing is waited for.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "client/capture/state.h"
#include "nn/module/config.h"
#include "nn/module/module.h"
#include "store/record.h"
#include "train/optim/average_record.h"

namespace burn::optim {

template <Module M>
class Average;

// mean = d mean + (1 - d) weights after every `every`-th step. The first update copies the weights, as in PyTorch's
// AveragedModel. The n-th after it has d = min(decay, (1 + n) / (warmup + n)), with n from 1: with warmup = 10 that of
// TensorFlow's ExponentialMovingAverage, so that the weights of the beginning are forgotten; 0 and 1: d = decay.
struct Ema {
  double decay = 0.999;
  std::int64_t warmup = 0;
  std::int64_t every = 1;
  BURN_CONFIG(Ema, decay, warmup, every)

  // Errors (thrown): a decay that is not at least 0 and below 1; a negative warmup; `every` below 1.
  template <Module M>
  Average<M> init(const M& module) const {
    return {*this, module};
  }
};

// The mean of the weights after every `every`-th step, from the step numbered `start` on, counted from 0 (stochastic
// weight averaging: Izmailov et al., arXiv:1803.05407).
struct Swa {
  std::int64_t start = 0;
  std::int64_t every = 1;
  BURN_CONFIG(Swa, start, every)

  // Errors (thrown): a negative start; `every` below 1.
  template <Module M>
  Average<M> init(const M& module) const {
    return {*this, module};
  }
};

// The average of any module, without its type: Average<M> is this with a type. What is averaged: the parameters that
// are trained, and running statistics. What is frozen and what is no float is as in the module. Averages are f32
// beside 16-bit weights, else of the weights' dtype. A parameter at several places has one average. A value; one
// thread at a time.
class ModuleAverage : private client::CaptureHost {
 public:
  ModuleAverage(const Ema& config);  // NOLINT: a configuration is an average
  ModuleAverage(const Swa& config);  // NOLINT

  // Counts a step, and records the update where one is due; sends nothing. `module`: the weights after the step. A step
  // that is not taken on the device counts, with the weights as they were. Errors (thrown): other tensors than those of
  // the updates before, by path; nothing is changed then.
  void update(const nn::ModuleWalk& module, const client::Site& site = {});
  // Puts the averages, in the dtype that the weights had, in place of the module's own numbers, and where release() has
  // left none. Before the first update the module stays as it is. Errors (thrown): as update().
  void put_into(const nn::ModuleWalk& module) const;
  // Errors (thrown): as update().
  void check_fits(const nn::ModuleWalk& module) const;
  // Drops the module's numbers that put_into() gives it, so that no step has to keep the memory of old weights.
  void release(const nn::ModuleWalk& module) const;

  std::int64_t steps() const { return steps_; }      // counted
  std::int64_t updates() const { return updates_; }  // made

  // The averages by the paths of their parameters, and the two counts as metadata.
  Record to_record(const nn::ModuleWalk& module) const;
  // Errors: a record of no average, or of the other kind; a tensor left over, not of floats, or of another shape than
  // its parameter. Nothing is changed then.
  void load_record(const nn::ModuleWalk& module, const Record& record);

  friend void capture_fields(client::CaptureState& state, ModuleAverage& average) { average.list_captured(state); }

 private:
  bool is_due() const;  // whether the step that is counted next makes an update
  double kept() const;  // what part of the average the next update keeps
  void list_captured(client::CaptureState& state);
  // Of the next update: what part of the average stays, and what part of the weights is added.
  std::vector<double> captured_numbers(std::uint64_t key, double number) const override;
  void captured_advance(std::span<const std::uint64_t> keys) override;

  std::optional<Ema> ema_{};  // one of the two
  std::optional<Swa> swa_{};
  std::int64_t steps_ = 0, updates_ = 0;
  std::vector<detail::AveragedTensor> entries_;  // none before the first update
};

// The average of modules of one type. A value; one thread at a time. An argument of captured steps, by reference.
template <Module M>
class Average {
 public:
  Average(ModuleAverage engine, const M& module) : engine_(std::move(engine)), model_(module) {}
  operator ModuleAverage() const { return engine_; }  // NOLINT: what the learner takes

  // Counts a step of `module`, whose weights are those after it, and records the update with what is computed next.
  // Optimizer::step() with the average as an argument does this itself, in the program of the step.
  void update(const M& module, Loc where = Loc::current()) {
    engine_.update(const_cast<M&>(module).walk(), at(where));
    let_go();
  }
  // The module with averaged weights: off the autodiff device and not training, as by valid(). Before the first update
  // the module that the average was made with.
  M model() const {
    M copy = model_;
    engine_.put_into(copy.walk());
    return copy.valid();
  }

  std::int64_t steps() const { return engine_.steps(); }
  std::int64_t updates() const { return engine_.updates(); }
  // For Optimizer::step(), which updates the engine and then drops the weights that the average was made with.
  ModuleAverage& engine() { return engine_; }
  void let_go() { engine_.release(model_.walk()); }

  Record to_record(const M& module) const {
    auto record = engine_.to_record(const_cast<M&>(module).walk());
    record.wait();
    return record;
  }
  void load_record(const M& module, const Record& record) {
    engine_.load_record(const_cast<M&>(module).walk(), record);
    model_ = module;
    let_go();
  }

  friend void capture_fields(client::CaptureState& state, Average& average) {
    average.let_go();
    capture_fields(state, average.engine_);
  }

 private:
  ModuleAverage engine_;
  M model_;  // its structure, and what is not averaged
};

}  // namespace burn::optim

namespace burn {
using optim::Average;
using optim::Ema;
using optim::Swa;
}  // namespace burn
