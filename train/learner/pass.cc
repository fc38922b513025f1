#include "train/learner/pass.h"

#include <algorithm>

#include "client/record/pacer.h"

namespace burn::train {
namespace {

// Steps that may be under way on the device: enough to hide a network's latency, few enough for their batches' memory.
constexpr std::size_t kMaxStepsAhead = client::Pacer::kMaxAheadFarAway;  // the pacer lets no loop go further

}  // namespace

std::vector<ShownValue> shown_values(const metric::MetricSet& metrics) {
  std::vector<ShownValue> values;
  for (const auto& metric : metrics.metrics()) {
    const ShownValue value{metric->label(), metric->format(metric->value())};
    const bool is_loss = metric->name() == metric::Loss{}.name();
    values.insert(is_loss ? values.begin() : values.end(), value);
  }
  return values;
}

Pass::Pass(metric::MetricSet& metrics, Renderer& renderer, Progress shown, Pass* before,
           metric::MetricSet::Failed failed)
    : metrics_(metrics),
      renderer_(renderer),
      progress_(std::move(shown)),
      items_before_(metrics.items()),
      before_(before),
      failed_(std::move(failed)),
      start_(Clock::now()) {}

void Pass::batch_sent(const client::Value& measured, std::int64_t items) {
  metrics_.push(measured, items);
  advance(kMaxStepsAhead);
}

void Pass::all_sent() { all_sent_ = true; }

void Pass::finish() {
  all_sent_ = true;
  if (!is_over()) advance(0);
}

// Takes in what has come, until no more than `pending` batches are on their way.
void Pass::advance(std::size_t pending) {
  if (before_ != nullptr) {
    if (!before_->is_over()) before_->advance(metrics_.pending() > pending || pending == 0 ? 0 : kMaxStepsAhead);
    if (!before_->is_over()) return;
    start_ = std::max(start_, *before_->end_);
    before_ = nullptr;
  }
  const auto items_seen = [&] { return metrics_.items() + metrics_.skipped_items(); };
  const auto items_shown = items_seen();
  metrics_.take(pending, failed_);
  if (all_sent_ && metrics_.pending() == 0) end_ = Clock::now();
  if (is_over() || items_seen() != items_shown) show();
}

double Pass::seconds() const { return std::chrono::duration<double>(end_.value_or(Clock::now()) - start_).count(); }

void Pass::show() {
  auto& p = progress_;
  p.items = metrics_.items() + metrics_.skipped_items();
  p.skipped = metrics_.skipped();
  p.seconds = seconds();
  p.items_per_second = p.seconds > 0 ? static_cast<double>(p.items - items_before_) / p.seconds : 0;
  p.seconds_left = p.items_per_second > 0
                       ? static_cast<double>(std::max<std::int64_t>(p.total_items - p.items, 0)) / p.items_per_second
                       : 0;
  p.values = shown_values(metrics_);
  renderer_.progress(p);
}

}  // namespace burn::train
