#include "train/metric/metric_set.h"

#include <algorithm>

#include "client/autocast.h"
#include "client/ops/ops.h"
#include "client/site_scope.h"
#include "client/tensor/untyped.h"
#include "train/metric/packing.h"

namespace burn::metric {
namespace {

bool has_elements(const client::Value& value) { return value.type().num_elements() > 0; }

// The index of a tensor among those to be read; appends it if it is missing.
std::size_t place_of(const client::Value& tensor, std::vector<client::Value>& tensors) {
  const auto is_it = [&](const client::Value& other) { return other.storage() == tensor.storage(); };
  const auto place = static_cast<std::size_t>(std::ranges::find_if(tensors, is_it) - tensors.begin());
  if (place == tensors.size()) tensors.push_back(tensor);
  return place;
}

// One number of the step's output, if no metric measures any: its arrival shows that the batch is done.
client::Value any_number(const StepOutput& output) {
  const auto& site = client::current_site();
  const auto one_of = [&](const client::Value& value) {
    const auto count = value.type().num_elements();
    return client::cast(client::narrow(client::reshape(value, {count}, site), 0, 0, 1, site), ir::DType::f32, site);
  };
  for (const auto* value : {&output.loss, &output.output, &output.targets}) {
    if (value->has_value() && has_elements(*value)) return one_of(*value);
  }
  for (const auto& [name, value] : output.others) {
    if (value.has_value() && has_elements(value)) return one_of(value);
  }
  throw Error(StatusCode::invalid_argument, "metrics: the step gives no tensor that has an element");
}

}  // namespace

MetricSet::MetricSet(const std::vector<MetricFactory>& factories) {
  for (const auto& make : factories) {
    auto metric = make();
    if (find(metric->name())) {
      throw Error(StatusCode::invalid_argument,
                  "metrics: two have the name \"" + metric->name() + "\"; a name stands for one metric of a split");
    }
    needs_.push_back(metric->needs());
    metrics_.push_back(std::move(metric));
    batch_metrics_.push_back(make());
  }
}

Packed MetricSet::measure(const StepOutput& output) {
  const Autocast exact{ir::DType::f32};  // a training's autocast must not affect metrics
  const auto off_tape = output.inner();
  Packed packed;
  std::vector<client::Value> tensors;
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    try {
      for (const auto& need : needs_[i]) (void)get(off_tape, need);
      const auto measured = metrics_[i]->record(off_tape);
      packed.counts.push_back(measured.tensors().size());
      tensors.insert(tensors.end(), measured.tensors().begin(), measured.tensors().end());
    } catch (const Error& error) {
      throw Error(error.status().with_context("metric " + metrics_[i]->name()));
    }
  }
  if (accepts_) packed.loss = place_of(off_tape.loss, tensors);
  bool has_numbers = false;
  for (const auto& tensor : tensors) {
    packed.types.push_back(tensor.type());
    has_numbers = has_numbers || has_elements(tensor);
  }
  packed.numbers = has_numbers ? pack(tensors) : any_number(off_tape);
  return packed;
}

void MetricSet::push(const Packed& measured, std::int64_t items, std::int64_t step, double rate) {
  pending_.push_back({.data = reads_.add(measured.numbers),
                      .types = measured.types,
                      .counts = measured.counts,
                      .loss = measured.loss,
                      .device = Device{measured.numbers.device()},
                      .items = items,
                      .step = step,
                      .rate = rate});
}

void MetricSet::take(std::size_t pending, const Failed& failed) {
  if (pending == 0) ask();
  while (!pending_.empty()) {
    if (pending_.size() <= pending && !pending_.front().data.is_ready()) return;
    auto next = std::move(pending_.front());
    pending_.pop_front();
    last_step_ = next.step;
    std::optional<TensorData> data;
    try {
      data = next.data.get();
    } catch (const Error& error) {
      if (!failed) throw;
      skip(next);
      failed(error, ++failed_in_a_row_);
      continue;
    }
    failed_in_a_row_ = 0;
    add(next, *data);
  }
}

void MetricSet::add(const Pending& batch, const TensorData& data) {
  const auto tensors = unpack(data, batch.types);
  std::span<const TensorData> rest = tensors;
  if (batch.loss) {
    const auto loss = tensors[*batch.loss].convert<double>().to_vec<double>();
    if (!accepts_(batch.step, loss.empty() ? 0 : loss.front())) return skip(batch);
  }
  std::vector<double> of_batch;
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    const MeasuredBatch measured{
        .tensors = rest.first(batch.counts[i]), .items = batch.items, .rate = batch.rate, .device = batch.device};
    rest = rest.subspan(batch.counts[i]);
    metrics_[i]->take(measured);
    if (!on_batch_) continue;
    if (metrics_[i]->is_of_batches()) {
      batch_metrics_[i]->reset();
      batch_metrics_[i]->take(measured);
    }
    of_batch.push_back(metrics_[i]->is_of_batches() ? batch_metrics_[i]->value() : metrics_[i]->value_so_far());
  }
  items_ += batch.items;
  if (on_batch_) on_batch_(batch.step, of_batch);
}

void MetricSet::skip(const Pending& batch) {
  skipped_ += 1;
  skipped_items_ += batch.items;
}

std::vector<double> MetricSet::values() const {
  std::vector<double> values;
  values.reserve(metrics_.size());
  for (const auto& metric : metrics_) values.push_back(metric->value());
  return values;
}

std::vector<double> MetricSet::values_so_far() const {
  std::vector<double> values;
  values.reserve(metrics_.size());
  for (const auto& metric : metrics_) values.push_back(metric->value_so_far());
  return values;
}

std::optional<std::size_t> MetricSet::find(std::string_view name) const {
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    if (metrics_[i]->name() == name) return i;
  }
  return std::nullopt;
}

std::vector<std::vector<double>> MetricSet::state() const {
  std::vector<std::vector<double>> state;
  state.reserve(metrics_.size());
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
  reads_.forget();
  items_ = skipped_items_ = skipped_ = 0;
}

}  // namespace burn::metric
