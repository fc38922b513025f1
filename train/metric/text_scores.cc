#include "train/metric/text_scores.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "client/ops/formula.h"
#include "train/metric/labels.h"

namespace burn::metric {
namespace {

using client::Value;

void check_counts(const Metric& metric, std::span<const double> state, std::size_t size) {
  if (!state.empty()) check_state(metric, state, size);  // none before the first batch
}

// Integers [batch, time].
Value answered_tokens(const StepOutput& output) {
  const auto& site = client::current_site();
  for (const char* name : {"predictions", "output"}) {
    const auto* value = output.find(name);
    if (value == nullptr) continue;
    if (ir::is_integer(value->dtype()) && value->rank() == 2) return *value;
    if (ir::is_floating(value->dtype()) && value->rank() == 3)
      return client::squeeze(client::arg_reduce(ir::ArgFn::max, *value, 2, site), {2}, site);
  }
  throw_missing("tokens: \"predictions\" or \"output\" of integers of rank 2, or \"output\" of floats of rank 3",
                output);
}

Tokens until(Tokens tokens, std::optional<std::int64_t> pad) {
  if (!pad) return tokens;
  return tokens.first(static_cast<std::size_t>(std::ranges::find(tokens, *pad) - tokens.begin()));
}

}  // namespace

Perplexity Perplexity::with_pad_token(std::int64_t token) const {
  auto result = *this;
  result.pad_ = token;
  return result;
}

std::vector<Need> Perplexity::needs() const {
  return {{"output", NeededKind::floating, {2, 3}}, {"targets", NeededKind::integer, {1, 2}}};
}

Measured Perplexity::record(const StepOutput& output) const {
  const auto& site = client::current_site();
  const auto logits = client::cast(rows_of(output.output), DType::f32, site);  // [tokens, classes]
  const Tensor<2, Int> targets{
      client::cast(client::reshape(output.targets, {logits.dim(0), 1}, site), DType::i64, site)};
  const auto counts = pad_ ? targets.not_equal(*pad_) : Tensor<2, Bool>::ones_like(targets.equal(targets));
  const auto known = targets.mask_fill(counts.bool_not(), 0);
  const Tensor<2> logs{client::gather(client::log_softmax(logits, 1, site), 1, known.value(), site)};
  return Tensor<1>::cat({logs.mask_fill(counts.bool_not(), 0).sum(), counts.to_float().sum()}, 0);
}

double Perplexity::value() const { return counts().empty() ? ratio(0, 0) : std::exp(-ratio(counts()[0], counts()[1])); }

void Perplexity::load_state(std::span<const double> state) {
  check_counts(*this, state, 2);
  CountedMetric::load_state(state);
}

std::vector<Need> SequenceMetric::needs() const { return {{"targets", NeededKind::integer, {2}}}; }

Measured SequenceMetric::record(const StepOutput& output) const {
  const auto answered = answered_tokens(output);
  if (answered.dim(0) != output.targets.dim(0)) {
    throw Error(StatusCode::invalid_argument,
                fmt::format("answers {} and targets {} are not as many sequences", ir::to_string(answered.type()),
                            ir::to_string(output.targets.type())));
  }
  return Measured{{answered, output.targets}};
}

void SequenceMetric::take(const MeasuredBatch& batch) {
  const auto answered = batch.tensors[0].to_vec_as<std::int64_t>();
  const auto expected = batch.tensors[1].to_vec_as<std::int64_t>();
  const auto rows = static_cast<std::size_t>(batch.tensors[1].shape()[0]);
  const auto row = [&](const std::vector<std::int64_t>& tokens, std::size_t i) {
    const auto time = tokens.size() / rows;
    return until(Tokens{tokens}.subspan(i * time, time), pad_);
  };
  for (std::size_t i = 0; i < rows; ++i) add_counts(compare(row(answered, i), row(expected, i)));
}

void SequenceMetric::load_state(std::span<const double> state) {
  check_counts(*this, state, size_);
  CountedMetric::load_state(state);
}

BleuScore::BleuScore(std::int64_t max_n, BleuSmoothing smoothing)
    : SequenceMetricOf(static_cast<std::size_t>(2 * std::max<std::int64_t>(max_n, 1) + 2)),
      max_n_(max_n),
      smoothing_(smoothing) {
  if (max_n < 1) throw Error(StatusCode::invalid_argument, fmt::format("BleuScore: max_n is {}, must be >= 1", max_n));
}

// Returns the numbers of answered and expected tokens, then matches and n-grams for each n.
std::vector<double> BleuScore::compare(Tokens answered, Tokens expected) const {
  std::vector<double> counts{static_cast<double>(answered.size()), static_cast<double>(expected.size())};
  for (std::int64_t n = 1; n <= max_n_; ++n) {
    const auto found = count_ngrams(answered, expected, static_cast<std::size_t>(n));
    counts.push_back(static_cast<double>(found.matches));
    counts.push_back(static_cast<double>(found.candidate));
  }
  return counts;
}

double BleuScore::value() const {
  if (counts().empty()) return ratio(0, 0);
  const double answered = counts()[0], expected = counts()[1];
  if (answered == 0 || counts()[2] == 0) return 0;
  double logs = 0, halves = 1;
  for (std::size_t n = 0; n < static_cast<std::size_t>(max_n_); ++n) {
    double matches = counts()[2 + 2 * n];
    const double all = counts()[3 + 2 * n];
    if (all == 0) return 0;
    if (matches == 0) {
      if (std::holds_alternative<NoSmoothing>(smoothing_)) return 0;
      const auto* add = std::get_if<AddEpsilon>(&smoothing_);
      halves *= add != nullptr ? 1 : 0.5;
      matches = add != nullptr ? add->epsilon : halves;
    }
    logs += std::log(matches / all);
  }
  const double brevity = answered < expected ? std::exp(1 - expected / answered) : 1;
  return 100 * brevity * std::exp(logs / static_cast<double>(max_n_));
}

// Returns the score of the pair, and 1 as the number of pairs.
std::vector<double> RougeLScore::compare(Tokens answered, Tokens expected) const {
  if (answered.empty() && expected.empty()) return {1, 1};
  const auto common = static_cast<double>(longest_common_subsequence(answered, expected));
  return {2 * common / static_cast<double>(answered.size() + expected.size()), 1};
}

}  // namespace burn::metric
