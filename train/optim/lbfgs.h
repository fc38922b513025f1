// L-BFGS (Liu and Nocedal 1989; Nocedal and Wright, Numerical Optimization, 7.2): for losses without noise, and modules
// whose gradients fit into memory some dozens of times.
//
//   auto optim = optim::LbfgsConfig{.line_search = optim::LineSearchFn::strong_wolfe}.init<Net>();
//   auto [next, loss] = optim.step(1, std::move(net), [&](const Net& at) {
//     const auto loss = nn::MseLoss{}(at.forward(x), y);
//     return std::pair{loss, GradientsParams::from_grads(loss.backward(), at)};
//   });
//
// Unlike other optimizers it evaluates the loss and its gradients several times per step, and waits for their values.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "client/site_scope.h"
#include "nn/module/config.h"
#include "store/record.h"
#include "train/optim/gradients_params.h"

namespace burn::optim {

// none: the step length is the learning rate. strong_wolfe: starting from the learning rate, searches a length at which
// the loss has decreased sufficiently and its slope is flat enough (Nocedal and Wright, 3.5).
enum class LineSearchFn : std::uint8_t { none, strong_wolfe };
constexpr std::array<std::string_view, 2> enum_names(LineSearchFn) { return {"none", "strong_wolfe"}; }

template <Module M>
class Lbfgs;

struct LbfgsConfig {
  std::int64_t max_iter = 20;              // directions in a step
  std::optional<std::int64_t> max_eval{};  // evaluations in a step; none: 5 for 4 directions
  double tolerance_grad = 1e-7;            // ends a step: no element of the gradient is above this
  double tolerance_change = 1e-9;          // ends a step: a change of all elements, or of the loss, below this
  std::int64_t history_size = 100;         // number of stored differences
  LineSearchFn line_search = LineSearchFn::none;
  BURN_CONFIG(LbfgsConfig, max_iter, max_eval, tolerance_grad, tolerance_change, history_size, line_search)

  static LbfgsConfig pytorch() { return {}; }  // torch.optim.LBFGS

  // Errors: a count below 1; a negative tolerance.
  template <Module M>
  Lbfgs<M> init() const;
};

namespace detail {

// The algorithm on one vector of all parameters.
class LbfgsEngine {
 public:
  explicit LbfgsEngine(const LbfgsConfig& config);

  struct Point {
    client::Value x, gradient;  // [n], on the inner device
    double loss = 0;
  };
  // Loss and gradient at x.
  using Evaluate = std::function<Point(const client::Value& x)>;
  // Returns the point at which the step ends.
  Point step(double lr, const client::Value& x, const Evaluate& evaluate);

  Record to_record() const;
  // Errors: a record of another kind, or of other sizes than `x`.
  void load_record(const Record& record, const client::Value& x);

 private:
  struct Difference {
    client::Value s, y, rho;  // of parameters, of gradients; 1 / (s . y), [1]
  };
  client::Value direction(const client::Value& gradient) const;
  void remember(const Point& from, const Point& to, double curvature);
  Point search(const Point& from, const client::Value& d, double slope, double length, const Evaluate& evaluate,
               std::int64_t& evaluations) const;

  LbfgsConfig config_;
  std::deque<Difference> history_;
  client::Value scale_;  // of the first guess of the inverse Hessian, [1]
};

// Concatenates all trained parameters; the next function puts them back into the module, as leaves of the tape.
client::Value flat_parameters(const nn::ModuleWalk& module);
void put_parameters(const nn::ModuleWalk& module, const client::Value& flat);
client::Value flat_gradients(const nn::ModuleWalk& module, GradientsParams gradients);
double read_loss(const Tensor<1>& loss);

}  // namespace detail

// A value; one thread at a time.
template <Module M>
class Lbfgs {
 public:
  explicit Lbfgs(const LbfgsConfig& config) : engine_(config) {}

  // Returns the module after a step, and its loss. `closure` returns the loss of a module and its gradients:
  // std::pair<Tensor<1>, GradientsParams>. Errors, without changing module and optimizer: those of the closure; a rate
  // that is negative, infinite or NaN; those of the device, as the step reads results.
  template <typename Closure>
  std::pair<M, double> step(double lr, const M& module, Closure&& closure, Loc where = Loc::current()) {
    const client::SiteScope scope{at(where)};
    M next = module;
    const auto evaluate = [&](const client::Value& x) {
      detail::put_parameters(next.walk(), x);
      std::pair<Tensor<1>, GradientsParams> result = closure(std::as_const(next));
      auto gradient = detail::flat_gradients(next.walk(), std::move(result.second));
      return detail::LbfgsEngine::Point{x, std::move(gradient), detail::read_loss(result.first)};
    };
    auto engine = engine_;
    const auto end = engine.step(lr, detail::flat_parameters(next.walk()), evaluate);
    detail::put_parameters(next.walk(), end.x);
    engine_ = std::move(engine);
    return {std::move(next), end.loss};
  }

  // The state from earlier steps.
  Record to_record() const { return engine_.to_record(); }
  void load_record(const M& module, const Record& record) {
    engine_.load_record(record, detail::flat_parameters(const_cast<M&>(module).walk()));
  }

 private:
  detail::LbfgsEngine engine_;
};

template <Module M>
Lbfgs<M> LbfgsConfig::init() const {
  return Lbfgs<M>{*this};
}

}  // namespace burn::optim
