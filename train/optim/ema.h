// Averages of a module's weights over its training: exponential (EMA), or the plain mean (SWA). They are evaluated and
// saved in place of the weights themselves.
//
//   auto ema = optim::Ema{.decay = 0.999}.init(net);
//   net = optim.step(1e-3, std::move(net), GradientsParams::from_grads(loss.backward(), net), ema);
//   ...
//   const Net mean = ema.model();  // to validate with
//
// An update is part of the step's program: it reads nothing and does not wait.
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
// AveragedModel. The n-th update after it has d = min(decay, (1 + n) / (warmup + n)), with n from 1. warmup = 10 is the
// formula of TensorFlow's ExponentialMovingAverage, which forgets early weights; 0 and 1: d = decay.
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

// The mean of the weights after every `every`-th step, from step `start` on, counted from 0 (stochastic weight
// averaging: Izmailov et al., arXiv:1803.05407).
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

// The average of a module, independent of its type; Average<M> adds the type. Averages trained parameters and running
// statistics. Frozen parameters and tensors that are not floats are those of the module. Averages are f32 for 16-bit
// weights, else of the weights' dtype. A parameter at several places has one average. A value; one thread at a time.
class ModuleAverage : private client::CaptureHost {
 public:
  ModuleAverage(const Ema& config);  // NOLINT: a configuration is an average
  ModuleAverage(const Swa& config);  // NOLINT

  // Counts a step, and records the update if one is due; sends nothing. `module`: the weights after the step. A step
  // that is not taken on the device counts as well, with unchanged weights. Errors (thrown), with the path and without
  // changing anything: other tensors than in earlier updates.
  void update(const nn::ModuleWalk& module, const client::Site& site = {});
  // Replaces the module's weights by the averages, in the weights' dtype, also where release() has dropped them. Before
  // the first update the module is not changed. Errors (thrown): as update().
  void put_into(const nn::ModuleWalk& module) const;
  // Errors (thrown): as update().
  void check_fits(const nn::ModuleWalk& module) const;
  // Drops the module's weights that put_into() would replace, so that their memory can be reused.
  void release(const nn::ModuleWalk& module) const;

  std::int64_t steps() const { return steps_; }      // number of steps counted
  std::int64_t updates() const { return updates_; }  // number of updates made

  // The averages by the paths of their parameters, and the two counts as metadata.
  Record to_record(const nn::ModuleWalk& module) const;
  // Errors, without changing anything: a record that is not of an average, or of the other kind; a tensor that is left
  // over, not of floats, or of another shape than its parameter.
  void load_record(const nn::ModuleWalk& module, const Record& record);

  friend void capture_fields(client::CaptureState& state, ModuleAverage& average) { average.list_captured(state); }

 private:
  bool is_due() const;  // whether the next counted step makes an update
  double kept() const;  // weight of the old average in the next update
  void list_captured(client::CaptureState& state);
  // The weights of the old average and of the module's weights in the next update.
  std::vector<double> captured_numbers(std::uint64_t key, double number) const override;
  void captured_advance(std::span<const std::uint64_t> keys) override;

  std::optional<Ema> ema_{};  // exactly one of the two is set
  std::optional<Swa> swa_{};
  std::int64_t steps_ = 0, updates_ = 0;
  std::vector<detail::AveragedTensor> entries_;  // none before the first update
};

// The average of a module of type M. A value; one thread at a time. Pass it to captured steps by reference.
template <Module M>
class Average {
 public:
  Average(ModuleAverage engine, const M& module) : engine_(std::move(engine)), model_(module) {}
  operator ModuleAverage() const { return engine_; }  // NOLINT: what the learner takes

  // Counts a step of `module`, whose weights are those after the step, and records the update as part of the next
  // program. Optimizer::step() with the average as an argument does this itself, in the step's program.
  void update(const M& module, Loc where = Loc::current()) {
    engine_.update(const_cast<M&>(module).walk(), at(where));
    let_go();
  }
  // The module with averaged weights, off the autodiff device and not training, as by valid(). Before the first update
  // it is the module that the average was created with.
  M model() const {
    M copy = model_;
    engine_.put_into(copy.walk());
    return copy.valid();
  }

  std::int64_t steps() const { return engine_.steps(); }
  std::int64_t updates() const { return engine_.updates(); }
  // For Optimizer::step(), which updates the engine and then drops the weights that the average was created with.
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
  M model_;  // the structure, and tensors that are not averaged
};

}  // namespace burn::optim

namespace burn {
using optim::Average;
using optim::Ema;
using optim::Swa;
}  // namespace burn
