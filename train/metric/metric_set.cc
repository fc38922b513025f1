#include "train/metric/metric_set.h"

#include <chrono>

#include "base/error.h"
#include "client/ops/ops.h"
#include "client/site_scope.h"
#include "client/tensor/untyped.h"

namespace burn::metric {

MetricSet::MetricSet(const std::vector<MetricFactory>& factories) {
  for (const auto& make : factories) {
    metrics_.push_back(make());
    of_batch_.push_back(make());
  }
}

client::Value MetricSet::measure(const StepOutput& output) {
  const auto off_tape = output.inner();
  std::vector<client::Value> parts;
  lengths_.clear();
  const auto& site = client::current_site();
  for (const auto& metric : metrics_) {
    try {
      parts.push_back(client::cast(metric->measure(off_tape).value(), ir::DType::f32, site));
    } catch (const Error& error) {
      throw Error(error.status().with_context("metric " + metric->name()));
    }
    lengths_.push_back(static_cast<std::size_t>(parts.back().dim(0)));
  }
  return parts.size() == 1 ? parts[0] : client::concat(parts, 0, site);
}

void MetricSet::push(const client::Value& measured, std::int64_t items, std::int64_t step) {
  pending_.push_back({client::to_data_async(measured), items, step});
}

void MetricSet::take(std::size_t pending, const Failed& failed) {
  while (!pending_.empty()) {
    const bool is_here = pending_.front().data.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
    if (!is_here && pending_.size() <= pending) return;
    auto next = std::move(pending_.front());
    pending_.pop_front();
    last_step_ = next.step;
    try {
      const auto data = next.data.get();
      add(next, data);
      failed_in_a_row_ = 0;
    } catch (const Error& error) {
      if (!failed) throw;
      skipped_ += 1;
      skipped_items_ += next.items;
      failed(error, ++failed_in_a_row_);
    }
  }
}

void MetricSet::add(const Pending& batch, const TensorData& data) {
  auto numbers = data.as_slice<float>();
  std::vector<double> of_batch;
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    metrics_[i]->add(numbers.first(lengths_[i]), batch.items);
    if (told_) {
      of_batch_[i]->reset();
      of_batch_[i]->add(numbers.first(lengths_[i]), batch.items);
      of_batch.push_back(of_batch_[i]->value());
    }
    numbers = numbers.subspan(lengths_[i]);
  }
  items_ += batch.items;
  if (told_) told_(batch.step, of_batch);
}

std::vector<double> MetricSet::values() const {
  std::vector<double> values;
  for (const auto& metric : metrics_) values.push_back(metric->value());
  return values;
}

std::vector<std::vector<double>> MetricSet::state() const {
  std::vector<std::vector<double>> state;
  for (const auto& metric : metrics_) state.push_back(metric->state());
  return state;
}

void MetricSet::load_state(const std::vector<std::vector<double>>& state, std::int64_t items) {
  if (state.size() != metrics_.size()) {
    throw Error(StatusCode::invalid_argument, "metrics: a state of " + std::to_string(state.size()) + " metrics for " +
                                                  std::to_string(metrics_.size()));
  }
  for (std::size_t i = 0; i < metrics_.size(); ++i) metrics_[i]->load_state(state[i]);
  items_ = items;
}

void MetricSet::reset() {
  for (const auto& metric : metrics_) metric->reset();
  pending_.clear();
  items_ = skipped_items_ = skipped_ = 0;
}

}  // namespace burn::metric
