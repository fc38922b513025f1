#include "train/optim/lbfgs.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "client/fail.h"
#include "client/ops/formula.h"
#include "client/tensor/untyped.h"
#include "nn/module/checks.h"
#include "nn/module/visit.h"
#include "train/lr/check_rate.h"

namespace burn::optim::detail {
namespace {

using client::current_site;
using client::Value;

constexpr const char* kName = "lbfgs";
constexpr double kArmijo = 1e-4, kCurvature = 0.9;  // c1 and c2 of the Wolfe conditions
constexpr int kMaxTrials = 25;                      // lengths that a search looks at

Value dot(const Value& a, const Value& b) { return client::reduce_all(ir::ReduceFn::sum, a * b, current_site()); }
Value largest(const Value& x) { return client::reduce_all(ir::ReduceFn::max, abs(x), current_site()); }

// Several numbers [1] in one read.
std::vector<double> read(const std::vector<Value>& numbers) {
  const Value all = numbers.size() == 1 ? numbers[0] : client::concat(numbers, 0, current_site());
  return client::to_data(all).to_vec_as<double>();
}

Value moved(const Value& x, const Value& d, double length) { return x + d * length; }

// Where a cubic with these values and slopes at a and b is least; the middle where it has no such place inside.
double least_of_cubic(double a, double fa, double ga, double b, double fb, double gb) {
  const double low = std::min(a, b), high = std::max(a, b), margin = 0.1 * (high - low);
  const double d1 = ga + gb - 3 * (fa - fb) / (a - b), square = d1 * d1 - ga * gb;
  if (!(square >= 0)) return (a + b) / 2;
  const double d2 = std::copysign(std::sqrt(square), b - a);
  const double place = b - (b - a) * (gb + d2 - d1) / (gb - ga + 2 * d2);
  return std::isfinite(place) ? std::clamp(place, low + margin, high - margin) : (a + b) / 2;
}

template <typename Body>
void for_each_trained(const nn::ModuleWalk& module, Body&& body) {
  nn::for_each_place(module, [&](Slot& slot, bool is_first) {
    if (is_first && slot.is_trainable()) body(slot);
  });
}

}  // namespace

Value flat_parameters(const nn::ModuleWalk& module) {
  std::vector<Value> parts;
  for_each_trained(module,
                   [&](Slot& slot) { parts.push_back(client::reshape(slot.value.inner(), {-1}, current_site())); });
  if (parts.empty()) client::fail("lbfgs: the module has no parameters that are trained", current_site());
  return parts.size() == 1 ? parts[0] : client::concat(parts, 0, current_site());
}

void put_parameters(const nn::ModuleWalk& module, const Value& flat) {
  std::int64_t place = 0;
  nn::for_each_slot(module, [&](const std::string&, Slot& slot) {  // also at a parameter's other places
    if (!slot.is_trainable()) return;
    const auto shape = slot.value.shape();
    const auto size = slot.value.type().num_elements();
    slot.value = client::require_grad(
        client::reshape(client::narrow(flat, 0, place, size, current_site()), shape, current_site()));
    place += size;
  });
}

Value flat_gradients(const nn::ModuleWalk& module, GradientsParams gradients) {
  std::vector<Value> parts;
  for_each_trained(module, [&](Slot& slot) {
    const auto gradient = gradients.remove(slot.id);
    const ir::Shape shape{slot.value.type().num_elements()};
    parts.push_back(gradient ? client::reshape(*gradient, shape, current_site())
                             : client::filled({slot.value.device()}, shape, 0, slot.value.dtype(), current_site()));
  });
  return parts.size() == 1 ? parts[0] : client::concat(parts, 0, current_site());
}

double read_loss(const Tensor<1>& loss) { return read({loss.value().inner()})[0]; }

LbfgsEngine::LbfgsEngine(const LbfgsConfig& config) : config_(config) {
  nn::detail::check_at_least("LbfgsConfig", "max_iter", config.max_iter, 1);
  nn::detail::check_at_least("LbfgsConfig", "max_eval", config.max_eval.value_or(1), 1);
  nn::detail::check_at_least("LbfgsConfig", "history_size", config.history_size, 1);
  nn::detail::check_between("LbfgsConfig", "tolerance_grad", config.tolerance_grad, 0, HUGE_VAL);
  nn::detail::check_between("LbfgsConfig", "tolerance_change", config.tolerance_change, 0, HUGE_VAL);
}

LbfgsEngine::Point LbfgsEngine::step(double lr, const Value& x, const Evaluate& evaluate) {
  lr::check_rate("step", lr, current_site());
  const auto most_evaluations = config_.max_eval.value_or(config_.max_iter * 5 / 4);
  Point at = evaluate(x);
  std::int64_t evaluations = 1;
  for (std::int64_t i = 0; i < config_.max_iter; ++i) {
    const Value d = direction(at.gradient);
    const Value size = client::reduce_all(ir::ReduceFn::sum, abs(at.gradient), current_site());
    const auto seen = read({largest(at.gradient), dot(at.gradient, d), size});
    const double slope = seen[1];
    if (seen[0] <= config_.tolerance_grad || slope > -config_.tolerance_change) break;
    const double length = history_.empty() ? std::min(1.0, 1 / seen[2]) * lr : lr;  // nothing is known of scales yet
    Point next;
    if (config_.line_search == LineSearchFn::strong_wolfe) {
      next = search(at, d, slope, length, evaluate, evaluations);
    } else {
      next = evaluate(moved(at.x, d, length));
      evaluations += 1;
    }
    const Value s = next.x - at.x, y = next.gradient - at.gradient;
    const auto change = read({largest(s), dot(s, y)});
    remember(at, next, change[1]);
    const double fallen = std::abs(next.loss - at.loss);
    at = std::move(next);
    if (!std::isfinite(at.loss) || evaluations >= most_evaluations) break;
    if (change[0] <= config_.tolerance_change || fallen < config_.tolerance_change) break;
  }
  return at;
}

// The two loops: minus the inverse Hessian, as far as it is known, times the gradient.
Value LbfgsEngine::direction(const Value& gradient) const {
  Value q = -gradient;
  std::vector<Value> alphas;
  for (auto it = history_.rbegin(); it != history_.rend(); ++it) {
    alphas.push_back(dot(it->s, q) * it->rho);
    q = q - alphas.back() * it->y;
  }
  if (!history_.empty()) q = q * scale_;
  for (const auto& known : history_) {
    q = q + known.s * (alphas.back() - dot(known.y, q) * known.rho);
    alphas.pop_back();
  }
  return q;
}

// Where the curvature is not positive there is nothing to be learned.
void LbfgsEngine::remember(const Point& from, const Point& to, double curvature) {
  if (!(curvature > 1e-10)) return;
  const Value s = to.x - from.x, y = to.gradient - from.gradient;
  const Value sy = dot(s, y);
  history_.push_back({s, y, 1.0 / sy});
  scale_ = sy / dot(y, y);
  if (static_cast<std::int64_t>(history_.size()) > config_.history_size) history_.pop_front();
}

// Nocedal and Wright, algorithms 3.5 and 3.6: lengths that grow until they enclose a good one, then an interval that
// shrinks around it.
LbfgsEngine::Point LbfgsEngine::search(const Point& from, const Value& d, double slope, double length,
                                       const Evaluate& evaluate, std::int64_t& evaluations) const {
  struct Trial {
    double length = 0, slope = 0;
    Point point;
  };
  const auto try_length = [&](double t) {
    Trial trial{t, 0, evaluate(moved(from.x, d, t))};
    trial.slope = read({dot(trial.point.gradient, d)})[0];
    evaluations += 1;
    return trial;
  };
  const auto is_too_high = [&](const Trial& trial, double lowest) {
    const double f = trial.point.loss;
    return !(f <= from.loss + kArmijo * trial.length * slope) || f >= lowest;  // a NaN is too high
  };
  const auto is_flat = [&](const Trial& trial) { return std::abs(trial.slope) <= -kCurvature * slope; };

  Trial low{0, slope, from}, high;
  bool is_enclosed = false;
  int trials = 0;
  for (double t = length; !is_enclosed && trials < kMaxTrials; ++trials) {
    Trial now = try_length(t);
    if (is_too_high(now, trials > 0 ? low.point.loss : HUGE_VAL)) {
      high = std::move(now);
      is_enclosed = true;
    } else if (is_flat(now)) {
      return std::move(now.point);
    } else if (now.slope >= 0) {
      high = std::exchange(low, std::move(now));
      is_enclosed = true;
    } else {
      low = std::move(now);
      t = 2 * t;
    }
  }
  for (; is_enclosed && trials < kMaxTrials; ++trials) {
    if (std::abs(high.length - low.length) * -slope < config_.tolerance_change) break;
    const double t = std::isfinite(high.point.loss) ? least_of_cubic(low.length, low.point.loss, low.slope, high.length,
                                                                     high.point.loss, high.slope)
                                                    : (low.length + high.length) / 2;
    Trial now = try_length(t);
    if (is_too_high(now, low.point.loss)) {
      high = std::move(now);
      continue;
    }
    if (is_flat(now)) return std::move(now.point);
    if (now.slope * (high.length - low.length) >= 0) high = low;
    low = std::move(now);
  }
  return std::move(low.point);
}

Record LbfgsEngine::to_record() const {
  Record record;
  record.metadata()["optimizer"] = kName;
  for (std::size_t i = 0; i < history_.size(); ++i) {
    const auto at = std::to_string(i);
    record.insert("s/" + at, client::to_data(history_[i].s));
    record.insert("y/" + at, client::to_data(history_[i].y));
  }
  return record;
}

void LbfgsEngine::load_record(const Record& record, const Value& x) {
  const auto named = record.metadata().find("optimizer");
  if (named == record.metadata().end() || named->second != kName)
    client::fail("load_record: the record is not of optimizer lbfgs", current_site());
  std::deque<Difference> history;
  const client::Place place{x.device()};
  const auto load = [&](const std::string& name) {
    const auto& data = record.get(name);
    if (data.shape() != x.shape() || !ir::is_floating(data.dtype())) {
      client::fail("load_record: " + name + " is " + ir::to_string(data.type()) + " but the parameters together are " +
                       ir::to_string(x.type()),
                   current_site());
    }
    return client::upload(place, data.convert_dtype(x.dtype()).host_tensor());
  };
  for (std::size_t i = 0; i < record.size() / 2; ++i) {
    const Value s = load("s/" + std::to_string(i)), y = load("y/" + std::to_string(i));
    history.push_back({s, y, 1.0 / dot(s, y)});
  }
  history_ = std::move(history);
  if (!history_.empty()) scale_ = dot(history_.back().s, history_.back().y) / dot(history_.back().y, history_.back().y);
}

}  // namespace burn::optim::detail
