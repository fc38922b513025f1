#include "train/metric/class_scores.h"

#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "client/ops/formula.h"

namespace burn::metric {
namespace {

using client::Value;

DecisionRule among_highest(const char* what, std::int64_t k) {
  if (k < 1) throw Error(StatusCode::invalid_argument, fmt::format("{}: top_k is {}, must be 1 or more", what, k));
  return {.top_k = k};
}

void check_top_k(std::int64_t k, const Value& scores) {
  if (k <= scores.dim(1)) return;
  throw Error(StatusCode::invalid_argument, fmt::format("top_k is {}, but the output {} has {} classes", k,
                                                        ir::to_string(scores.type()), scores.dim(1)));
}

// i64 [rows, k]: the classes with the highest scores; if k is 1, of equal scores the first.
Value highest(const Value& scores, std::int64_t k) {
  const auto& site = client::current_site();
  check_top_k(k, scores);
  return k == 1 ? client::arg_reduce(ir::ArgFn::max, scores, 1, site) : client::top_k(scores, 1, k, true, site).indices;
}

// bool [rows, classes]: the positive answers.
Value answers(const Value& scores, const DecisionRule& rule) {
  const auto& site = client::current_site();
  if (rule.top_k == 0) return scores > rule.threshold;
  const auto rows = scores.dim(0), classes = scores.dim(1);
  const auto chosen = highest(scores, rule.top_k);
  if (rule.top_k == 1) return one_hot_mask(client::reshape(chosen, {rows}, site), classes);
  const auto place = client::place_of(scores);
  const auto none = client::filled(place, {rows, classes}, 0, ir::DType::f32, site);
  const auto ones = client::filled(place, chosen.shape(), 1, ir::DType::f32, site);
  return client::scatter(none, 1, chosen, ones, ir::ScatterFn::add, site) > 0.0;
}

void check_pair(const Metric& metric, std::span<const double> state) {
  if (!state.empty()) check_state(metric, state, 2);  // none before the first batch
}

}  // namespace

std::string_view name(ClassReduction reduction) { return reduction == ClassReduction::micro ? "Micro" : "Macro"; }

std::string DecisionRule::name() const {
  return top_k > 0 ? fmt::format("TopK({})", top_k) : fmt::format("Threshold({})", threshold);
}

ClassScore::ClassScore(std::string what, Task task, DecisionRule rule, ClassReduction reduction)
    : what_(std::move(what)), task_(task), rule_(rule), reduction_(reduction) {}

std::string ClassScore::name() const {
  return fmt::format("{} @ {} [{}]", what_, rule_.name(), metric::name(reduction_));
}

Measured ClassScore::record(const StepOutput& output) const {
  const auto [scores, labels] = labelled_scores(output, task_);
  const auto answered = answers(scores, rule_);
  const auto right = client::bool_and(answered, labels);
  const Value counts[] = {count_true(right), count_true(answered), count_true(labels)};
  return Measured{{client::concat(counts, 0, client::current_site())}};
}

double ClassScore::value() const {
  const auto classes = counts().size() / 3;
  double right = 0, answered = 0, actual = 0, sum = 0, scored = 0;
  for (std::size_t c = 0; c < classes; ++c) {
    const double of_class[] = {counts()[c], counts()[classes + c], counts()[2 * classes + c]};
    right += of_class[0];
    answered += of_class[1];
    actual += of_class[2];
    if (const double one = score(of_class[0], of_class[1], of_class[2]); !std::isnan(one)) {
      sum += one;
      scored += 1;
    }
  }
  return 100 * (reduction_ == ClassReduction::micro ? score(right, answered, actual) : ratio(sum, scored));
}

void ClassScore::load_state(std::span<const double> state) {
  if (state.size() % 3 != 0) check_state(*this, state, 3 * (state.size() / 3));
  CountedMetric::load_state(state);
}

Precision Precision::multiclass(std::int64_t top_k, ClassReduction reduction) {
  return {Task::multiclass, among_highest("Precision", top_k), reduction};
}

Recall Recall::multiclass(std::int64_t top_k, ClassReduction reduction) {
  return {Task::multiclass, among_highest("Recall", top_k), reduction};
}

FBetaScore::FBetaScore(double beta, Task task, DecisionRule rule, ClassReduction reduction)
    : ClassScore(fmt::format("FBetaScore ({})", beta), task, rule, reduction), beta_(beta) {
  if (!(beta > 0)) throw Error(StatusCode::invalid_argument, fmt::format("FBetaScore: beta is {}, must be > 0", beta));
}

FBetaScore FBetaScore::multiclass(double beta, std::int64_t top_k, ClassReduction reduction) {
  return {beta, Task::multiclass, among_highest("FBetaScore", top_k), reduction};
}

std::string FBetaScore::label() const { return fmt::format("f{}", beta_); }

double FBetaScore::score(double right, double answered, double actual) const {
  const double weight = beta_ * beta_;
  return ratio((1 + weight) * right, answered + weight * actual);
}

TopKAccuracy::TopKAccuracy(std::int64_t k) : k_(among_highest("TopKAccuracy", k).top_k) {}

TopKAccuracy TopKAccuracy::with_pad_token(std::int64_t token) const {
  auto result = *this;
  result.pad_ = token;
  return result;
}

std::string TopKAccuracy::name() const { return fmt::format("Top-K Accuracy @ TopK({})", k_); }

std::vector<Need> TopKAccuracy::needs() const {
  return {{"output", NeededKind::any, {2, 3}}, {"targets", NeededKind::integer, {1, 2}}};
}

Measured TopKAccuracy::record(const StepOutput& output) const {
  const auto scores = rows_of(output.output);
  check_top_k(k_, scores);
  const Tensor<2, Bool> is_found{is_among_highest(scores, output.targets, k_)};
  if (!pad_) {
    const auto all = Tensor<1>::full({1}, static_cast<double>(scores.dim(0)), is_found.device());
    return Measured{is_found.to_float().sum()}.add(all);
  }
  const auto counts = Tensor<2, Int>{client::reshape(output.targets, {scores.dim(0), 1}, {})}.not_equal(*pad_);
  return Measured{is_found.bool_and(counts).to_float().sum()}.add(counts.to_float().sum());
}

void TopKAccuracy::load_state(std::span<const double> state) {
  check_pair(*this, state);
  CountedMetric::load_state(state);
}

HammingScore HammingScore::with_threshold(double threshold) const {
  auto result = *this;
  result.threshold_ = threshold;
  return result;
}

HammingScore HammingScore::with_sigmoid(bool wanted) const {
  auto result = *this;
  result.sigmoid_ = wanted;
  return result;
}

std::string HammingScore::name() const { return fmt::format("Hamming Score @ Threshold({})", threshold_); }

Measured HammingScore::record(const StepOutput& output) const {
  const auto [scores, labels] = labelled_scores(output, Task::multilabel);
  const auto answered = (sigmoid_ ? client::sigmoid(scores) : scores) > threshold_;
  const Tensor<2, Bool> is_right{answered == labels};
  const auto all = Tensor<1>::full({1}, static_cast<double>(labels.type().num_elements()), is_right.device());
  return Measured{is_right.sum()}.add(all);
}

void HammingScore::load_state(std::span<const double> state) {
  check_pair(*this, state);
  CountedMetric::load_state(state);
}

}  // namespace burn::metric
