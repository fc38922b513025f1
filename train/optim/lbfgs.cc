#include "train/optim/lbfgs.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
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
constexpr int kMaxTrials = 25;                      // lengths that a search tries

Value dot(const Value& a, const Value& b) { return client::reduce_all(ir::ReduceFn::sum, a * b, current_site()); }
Value largest(const Value& x) { return client::reduce_all(ir::ReduceFn::max, abs(x), current_site()); }

// Reads several numbers [1] in one read.
std::vector<double> read(const std::vector<Value>& numbers) {
  const Value all = numbers.size() == 1 ? numbers[0] : client::concat(numbers, 0, current_site());
  return client::to_data(all).to_vec_as<double>();
}

Value moved(const Value& x, const Value& d, double length) { return x + d * length; }

// A length that a search has tried, with the loss and its slope there.
struct Trial {
  double length = 0, slope = 0;
  LbfgsEngine::Point point;
};

// The minimum, within [least, most], of the cubic with the values and slopes of both trials; the middle of the interval
// if the cubic has no minimum.
double least_of_cubic(const Trial& one, const Trial& other, double least, double most) {
  const auto& [a, b] = one.length <= other.length ? std::tie(one, other) : std::tie(other, one);
  const double d1 = a.slope + b.slope - 3 * (a.point.loss - b.point.loss) / (a.length - b.length);
  const double square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0)) return (least + most) / 2;
  const double d2 = std::sqrt(square);
  const double place = b.length - (b.length - a.length) * (b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2);
  return std::isfinite(place) ? std::clamp(place, least, most) : (least + most) / 2;
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
  nn::for_each_slot(module, [&](const std::string&, Slot& slot) {  // sets the parameter's other places, too
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
    const double length = history_.empty() ? std::min(1.0, 1 / seen[2]) * lr : lr;  // no scale is known yet
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

// The two-loop recursion: minus the approximate inverse Hessian times the gradient.
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

// Differences without positive curvature are not stored.
void LbfgsEngine::remember(const Point& from, const Point& to, double curvature) {
  if (!(curvature > 1e-10)) return;
  const Value s = to.x - from.x, y = to.gradient - from.gradient;
  const Value sy = dot(s, y);
  history_.push_back({s, y, 1.0 / sy});
  scale_ = sy / dot(y, y);
  if (static_cast<std::int64_t>(history_.size()) > config_.history_size) history_.pop_front();
}

// Nocedal and Wright, algorithms 3.5 and 3.6, with cubic interpolation: increases the length, by a factor of at most
// ten, until the interval contains a good one, then shrinks the interval. The details are those of torch.optim.LBFGS.
LbfgsEngine::Point LbfgsEngine::search(const Point& from, const Value& d, double slope, double length,
                                       const Evaluate& evaluate, std::int64_t& evaluations) const {
  int trials = 0;
  const auto try_length = [&](double t) {
    Trial trial{t, 0, evaluate(moved(from.x, d, t))};
    trial.slope = read({dot(trial.point.gradient, d)})[0];
    evaluations += 1;
    trials += 1;
    return trial;
  };
  const auto is_too_high = [&](const Trial& trial) {  // a NaN is too high
    return !(trial.point.loss <= from.loss + kArmijo * trial.length * slope);
  };
  const auto is_flat = [&](const Trial& trial) { return std::abs(trial.slope) <= -kCurvature * slope; };

  Trial before{0, slope, from}, now = try_length(length);
  bool is_enclosed = false;
  while (!is_enclosed && trials < kMaxTrials) {
    is_enclosed = is_too_high(now) || (trials > 1 && now.point.loss >= before.point.loss);
    if (!is_enclosed && is_flat(now)) return std::move(now.point);
    is_enclosed = is_enclosed || now.slope >= 0;
    if (is_enclosed) break;
    const double t = least_of_cubic(before, now, now.length + 0.01 * (now.length - before.length), 10 * now.length);
    before = std::exchange(now, try_length(t));
  }
  if (!is_enclosed) return std::move(now.point);

  Trial low = std::move(before), high = std::move(now);
  if (high.point.loss < low.point.loss) std::swap(low, high);
  const double largest_of_d = read({largest(d)})[0];
  bool is_slow = false;  // whether the previous trial was near an end of the interval
  while (trials < kMaxTrials) {
    const auto [least, most] = std::minmax(low.length, high.length);
    if ((most - least) * largest_of_d < config_.tolerance_change) break;
    double t = (least + most) / 2;
    if (std::isfinite(high.point.loss)) {
      t = least_of_cubic(low, high, least, most);
      const double margin = 0.1 * (most - least);
      const bool is_near_end = std::min(most - t, t - least) < margin;
      const bool moves_in = is_near_end && (is_slow || t >= most || t <= least);
      if (moves_in) t = most - t < t - least ? most - margin : least + margin;
      is_slow = is_near_end && !moves_in;
    }
    Trial next = try_length(t);
    if (is_too_high(next) || next.point.loss >= low.point.loss) {
      high = std::move(next);
      if (high.point.loss < low.point.loss) std::swap(low, high);
      continue;
    }
    if (is_flat(next)) return std::move(next.point);
    if (next.slope * (high.length - low.length) >= 0) high = low;
    low = std::move(next);
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
