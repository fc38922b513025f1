// Optimizers, gradient clipping and learning rates.
#include "tools/conformance/layers.h"
#include "train/lr/schedule.h"
#include "train/optim/optim.h"

namespace burn::conformance {
namespace {

template <int D>
struct OneParameter {
  Param<D> p;
  BURN_MODULE(OneParameter, p)
};

// Returns the parameter after each step; the inputs after it are the gradients of the steps.
template <int D>
std::vector<Value> steps(const Call& c, const optim::ModuleOptimizer& optimizer) {
  OneParameter<D> module{.p = Tensor<D>{c.x(0).from_inner()}};
  optim::Optimizer<OneParameter<D>> optim{optimizer};
  std::vector<Value> results;
  for (std::size_t i = 1; i < c.count(); ++i) {
    optim::GradientsParams gradients;
    gradients.put(module.p.id(), c.x(i).inner());
    module = optim.step(c.number("lr"), std::move(module), std::move(gradients));
    results.push_back(module.p.val().value());
  }
  return results;
}

std::vector<Value> run(const Call& c, const optim::ModuleOptimizer& optimizer) {
  switch (c.x(0).rank()) {
    case 1:
      return steps<1>(c, optimizer);
    case 2:
      return steps<2>(c, optimizer);
    case 3:
      return steps<3>(c, optimizer);
    case 4:
      return steps<4>(c, optimizer);
    default:
      return steps<5>(c, optimizer);
  }
}

std::vector<Value> sgd(const Call& c) {
  optim::SgdConfig config{.weight_decay = c.number("weight_decay")};
  if (c.number("momentum") != 0) {
    config.momentum = {
        .momentum = c.number("momentum"), .dampening = c.number("dampening"), .nesterov = c.flag("nesterov")};
  }
  return run(c, config);
}

template <typename Config>
std::vector<Value> adam(const Call& c) {
  return run(c, Config{.beta_1 = c.number("beta_1"),
                       .beta_2 = c.number("beta_2"),
                       .epsilon = c.number("epsilon"),
                       .weight_decay = c.number("weight_decay"),
                       .amsgrad = c.flag("amsgrad")});
}

std::vector<Value> rms_prop(const Call& c) {
  return run(c, optim::RmsPropConfig{.alpha = c.number("alpha"),
                                     .momentum = c.number("momentum"),
                                     .epsilon = c.number("epsilon"),
                                     .centered = c.flag("centered"),
                                     .weight_decay = c.number("weight_decay")});
}

std::vector<Value> ada_grad(const Call& c) {
  return run(c, optim::AdaGradConfig{.lr_decay = c.number("lr_decay"),
                                     .epsilon = c.number("epsilon"),
                                     .weight_decay = c.number("weight_decay")});
}

std::vector<Value> adan(const Call& c) {
  return run(c, optim::AdanConfig{.beta_1 = c.number("beta_1"),
                                  .beta_2 = c.number("beta_2"),
                                  .beta_3 = c.number("beta_3"),
                                  .epsilon = c.number("epsilon"),
                                  .weight_decay = c.number("weight_decay"),
                                  .no_prox = c.flag("no_prox")});
}

std::vector<Value> rates(const Call& c, lr::Schedule auto schedule) {
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < c.integer("steps"); ++i) numbers.push_back(schedule.step());
  const auto count = static_cast<std::int64_t>(numbers.size());
  return {Tensor<1>::from_data(TensorData(std::move(numbers), {count}), {c.device, DType::f64}).value()};
}

}  // namespace

void add_optim(OpTable& t) {
  t["optim_sgd"] = sgd;
  t["optim_adam"] = adam<optim::AdamConfig>;
  t["optim_adamw"] = adam<optim::AdamWConfig>;
  t["optim_rmsprop"] = rms_prop;
  t["optim_adagrad"] = ada_grad;
  t["optim_adan"] = adan;
  t["grad_clip_by_value"] = [](const Call& c) {
    return std::vector{optim::clip({.value = c.number("threshold")}, c.x())};
  };
  t["grad_clip_by_norm"] = [](const Call& c) {
    return std::vector{optim::clip({.norm = c.number("threshold")}, c.x())};
  };
  t["lr_linear"] = [](const Call& c) {
    return rates(
        c, lr::Linear{
               .initial = c.number("initial_lr"), .final_lr = c.number("final_lr"), .steps = c.integer("num_iters")});
  };
  t["lr_cosine_annealing"] = [](const Call& c) {
    return rates(
        c,
        lr::Cosine{.initial = c.number("initial_lr"), .min_lr = c.number("min_lr"), .steps = c.integer("num_iters")});
  };
  t["lr_exponential"] = [](const Call& c) {
    return rates(c, lr::Exponential{.initial = c.number("initial_lr"), .gamma = c.number("gamma")});
  };
  t["lr_step"] = [](const Call& c) {
    return rates(
        c,
        lr::Step{.initial = c.number("initial_lr"), .gamma = c.number("gamma"), .step_size = c.integer("step_size")});
  };
  t["lr_noam"] = [](const Call& c) {
    return rates(c, lr::Noam{.factor = c.number("factor"),
                             .warmup_steps = c.integer("warmup_steps"),
                             .model_size = c.integer("model_size")});
  };
}

}  // namespace burn::conformance
