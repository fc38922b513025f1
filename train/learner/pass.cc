#include "train/learner/pass.h"

#include <algorithm>

#include "client/record/pacer.h"

namespace burn::train {
namespace {

// Maximum number of steps in flight on the device: enough to hide a network's latency, few enough for the memory of
// their batches.
constexpr std::size_t kMaxStepsAhead = client::Pacer::kMaxAheadFarAway;  // the pacer limits all loops to this

}  // namespace

std::vector<events::MetricValue> values_of(const metric::MetricSet& metrics, std::span<const double> values,
                                           const std::vector<std::int32_t>& numbers) {
  std::vector<events::MetricValue> told;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!metrics.metrics()[i]->is_text()) told.push_back({numbers[i], values[i]});
  }
  return told;
}

Pass::Pass(metric::MetricSet& metrics, const std::vector<std::int32_t>& numbers, events::EventStream& stream,
           events::Progress told, Pass* before, metric::MetricSet::Failed failed)
    : metrics_(metrics),
      numbers_(numbers),
      stream_(stream),
      progress_(std::move(told)),
      items_before_(metrics.items()),
      before_(before),
      failed_(std::move(failed)),
      start_(Clock::now()) {
  if (before_ == nullptr) tell_start();
}

void Pass::batch_sent(const metric::Packed& measured, std::int64_t items, std::int64_t step, double rate) {
  metrics_.push(measured, items, step, rate);
  progress_.rate = rate;
  advance(kMaxStepsAhead);
}

void Pass::all_sent() {
  all_sent_ = true;
  metrics_.ask();
}

void Pass::finish() {
  all_sent_ = true;
  if (!is_over()) advance(0);
}

// Processes the results that have arrived, and waits until at most `pending` batches are in flight.
void Pass::advance(std::size_t pending) {
  if (before_ != nullptr) {
    if (!before_->is_over()) before_->advance(metrics_.pending() > pending || pending == 0 ? 0 : kMaxStepsAhead);
    const auto end = before_->end_;
    if (!end) return;
    start_ = std::max(start_, *end);
    before_ = nullptr;
    tell_start();
  }
  const auto items_seen = [&] { return metrics_.items() + metrics_.skipped_items(); };
  const auto items_told = items_seen();
  metrics_.take(pending, failed_);
  if (all_sent_ && metrics_.pending() == 0) end_ = Clock::now();
  if (stream_.is_watched() && (is_over() || items_seen() != items_told)) tell_progress();
}

double Pass::seconds() const { return std::chrono::duration<double>(end_.value_or(Clock::now()) - start_).count(); }

void Pass::tell_start() {
  stream_.publish(events::SplitStart{progress_.split, progress_.epoch, progress_.total_items});
}

void Pass::tell_progress() {
  auto& p = progress_;
  p.step = metrics_.last_step();
  p.items = metrics_.items() + metrics_.skipped_items();
  p.skipped = metrics_.skipped();
  p.seconds = seconds();
  p.items_per_second = p.seconds > 0 ? static_cast<double>(p.items - items_before_) / p.seconds : 0;
  p.seconds_left = p.items_per_second > 0
                       ? static_cast<double>(std::max<std::int64_t>(p.total_items - p.items, 0)) / p.items_per_second
                       : 0;
  p.values = values_of(metrics_, metrics_.values_so_far(), numbers_);
  stream_.publish(p);
}

}  // namespace burn::train
