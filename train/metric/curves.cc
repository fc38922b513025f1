#include "train/metric/curves.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "client/ops/formula.h"

namespace burn::metric {
namespace {

using client::Value;

// Whether an output has two columns: the scores of negative and positive.
bool has_two_columns(const StepOutput& output, Task task) {
  return task == Task::binary && output.output.rank() == 2 && output.output.dim(1) == 2;
}

StepOutput probabilities(const StepOutput& output, Task task) {
  const auto& site = client::current_site();
  auto result = output;
  const auto x = client::cast(output.output, ir::DType::f32, site);
  result.output =
      task == Task::multiclass || has_two_columns(output, task) ? client::softmax(x, -1, site) : client::sigmoid(x);
  return result;
}

// i64 [rows * classes]: the index of each score in counts [classes, thresholds, 2].
Value places_of(const LabelledScores& items, std::int64_t thresholds) {
  const auto& site = client::current_site();
  const auto bins = static_cast<double>(thresholds);
  const auto scores = client::cast(items.scores, ir::DType::f32, site);
  const auto valid = client::select(client::is_nan(scores), client::zeros_like(scores), scores);
  const auto bin = client::min(client::max(client::floor(valid * bins), 0.0), bins - 1);
  const auto classes = client::unsqueeze(
      client::arange(client::place_of(scores), 0, items.classes(), 1, ir::DType::i64, site), {0}, site);
  const auto place = (classes * bins + client::cast(bin, ir::DType::i64, site)) * 2.0 +
                     client::cast(items.labels, ir::DType::i64, site);
  return client::reshape(place, {items.rows() * items.classes()}, site);
}

}  // namespace

CurveMetric::CurveMetric(std::string what, Task task, ClassReduction reduction)
    : what_(fmt::format("{} [{}]", what, metric::name(reduction))), task_(task), reduction_(reduction) {}

void CurveMetric::set_thresholds(std::int64_t count) {
  if (count < 2)
    throw Error(StatusCode::invalid_argument, fmt::format("{}: {} thresholds, must be 2 or more", what_, count));
  thresholds_ = count;
}

Measured CurveMetric::record(const StepOutput& output) const {
  const auto& site = client::current_site();
  const auto items = labelled_scores(logits_ ? probabilities(output, task_) : output, task_);
  if (thresholds_ > 0) {
    const auto places = places_of(items, thresholds_);
    const auto ones = client::filled(client::place_of(places), places.shape(), 1, ir::DType::f32, site);
    const auto counts = histogram(places, ones, items.classes() * thresholds_ * 2);
    return Measured{{client::reshape(counts, {items.classes(), thresholds_, 2}, site)}};
  }
  return Measured{{client::cast(items.scores, ir::DType::f32, site), items.labels}};
}

void CurveMetric::take(const MeasuredBatch& batch) {
  const auto& first = batch.tensors[0];
  const auto classes = thresholds_ > 0 ? first.shape()[0] : first.shape()[1];
  if (classes_ != 0 && classes != classes_) {
    throw Error(StatusCode::invalid_argument,
                fmt::format("metric {}: a batch of {} classes after batches of {}", what_, classes, classes_));
  }
  classes_ = classes;
  const auto numbers = first.as_slice<float>();
  if (thresholds_ > 0) {
    counts_.resize(numbers.size(), 0.0);
    for (std::size_t i = 0; i < numbers.size(); ++i) counts_[i] += static_cast<double>(numbers[i]);
    return;
  }
  scores_.insert(scores_.end(), numbers.begin(), numbers.end());
  for (const bool label : batch.tensors[1].as_slice<bool>()) labels_.push_back(label ? 1 : 0);
}

void CurveMetric::reset() {
  classes_ = 0;
  scores_.clear();
  labels_.clear();
  counts_.clear();
  shown_at_ = 0;
}

// The groups of the items of all these classes together.
std::vector<ScoreGroup> CurveMetric::groups_of(std::int64_t first_class, std::int64_t last_class) const {
  const auto classes = static_cast<std::size_t>(classes_);
  const auto first = static_cast<std::size_t>(first_class), last = static_cast<std::size_t>(last_class);
  if (thresholds_ > 0) {
    const auto bins = static_cast<std::size_t>(thresholds_);
    std::vector<ScoreGroup> groups(bins);
    for (std::size_t c = first; c < last; ++c) {
      for (std::size_t b = 0; b < bins; ++b) {  // the highest scores form the first group
        groups[bins - 1 - b].negatives += counts_[(c * bins + b) * 2];
        groups[bins - 1 - b].positives += counts_[(c * bins + b) * 2 + 1];
      }
    }
    return groups;
  }
  if (last - first == classes) return groups_by_score(scores_, labels_);
  std::vector<float> scores;
  std::vector<std::uint8_t> labels;
  for (std::size_t i = first; i < scores_.size(); i += classes) {
    scores.push_back(scores_[i]);
    labels.push_back(labels_[i]);
  }
  return groups_by_score(scores, labels);
}

double CurveMetric::average(Area area_of) const {
  if (classes_ == 0) return ratio(0, 0);
  if (reduction_ == ClassReduction::micro) return 100 * (this->*area_of)(groups_of(0, classes_));
  double sum = 0, count = 0;
  for (std::int64_t c = 0; c < classes_; ++c) {
    const double of_class = (this->*area_of)(groups_of(c, c + 1));
    if (std::isnan(of_class)) continue;
    sum += of_class;
    count += 1;
  }
  return 100 * ratio(sum, count);
}

// Recomputed when there are a quarter more scores, so that an epoch sorts only a few times as many scores as it has.
double CurveMetric::value_so_far() const {
  if (thresholds_ > 0) return value();
  if (shown_at_ == 0 || scores_.size() > shown_at_ + shown_at_ / 4) {
    shown_ = value();
    shown_at_ = scores_.size();
  }
  return shown_;
}

std::vector<double> CurveMetric::state() const {
  std::vector<double> state{static_cast<double>(classes_)};
  state.insert(state.end(), counts_.begin(), counts_.end());
  state.insert(state.end(), scores_.begin(), scores_.end());
  state.insert(state.end(), labels_.begin(), labels_.end());
  return state;
}

void CurveMetric::load_state(std::span<const double> state) {
  reset();
  if (state.empty()) check_state(*this, state, 1);
  const auto classes = static_cast<std::size_t>(std::llround(state[0]));
  const auto rest = state.subspan(1);
  if (thresholds_ > 0) {
    const auto size = classes * static_cast<std::size_t>(thresholds_) * 2;
    check_state(*this, state, 1 + size);
    counts_.assign(rest.begin(), rest.end());
  } else {
    if (rest.size() % (2 * std::max<std::size_t>(classes, 1)) != 0) {
      throw Error(StatusCode::invalid_argument,
                  fmt::format("{}: a state of {} numbers is none of {} classes", what_, state.size(), classes));
    }
    const auto half = rest.size() / 2;
    for (const double score : rest.first(half)) scores_.push_back(static_cast<float>(score));
    for (const double label : rest.last(half)) labels_.push_back(label != 0 ? 1 : 0);
  }
  classes_ = static_cast<std::int64_t>(classes);
}

}  // namespace burn::metric
