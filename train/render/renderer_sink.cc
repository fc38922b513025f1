#include "train/render/renderer_sink.h"

#include <utility>

#include "base/overloaded.h"

namespace burn::train {

RendererSink::RendererSink(std::shared_ptr<Renderer> renderer, std::vector<Format> formats)
    : renderer_(std::move(renderer)), formats_(std::move(formats)) {}

void RendererSink::event(const events::Event& event) {
  std::visit(
      Overloaded{[&](const events::Start& start) { metrics_ = start.metrics; },
                 [&](const events::Progress& progress) { show(progress); },
                 [&](const events::SplitEnd& end) { (end.split == Split::train ? train_ : valid_) = end; },
                 [&](const events::EpochEnd& end) { show(end); }, [&](const events::TextPoint& point) { show(point); },
                 [&](const events::Message& message) { renderer_->message(message.text); },
                 [&](const events::Summary& summary) { show(summary); }, [](const auto&) {}},
      event.body);
}

std::string RendererSink::format(std::int32_t metric, double value) const {
  const auto index = static_cast<std::size_t>(metric);
  if (index < formats_.size()) return formats_[index](value);
  return events::format_value(index < metrics_.size() ? metrics_[index].format : events::ValueFormat{}, value);
}

// The loss first, the others in the order given.
std::vector<ShownValue> RendererSink::shown(const std::vector<events::MetricValue>& values) const {
  std::vector<ShownValue> shown;
  for (const auto& [metric, value] : values) {
    const auto index = static_cast<std::size_t>(metric);
    if (index >= metrics_.size()) continue;
    const bool is_loss = metrics_[index].name == "Loss";
    shown.insert(is_loss ? shown.begin() : shown.end(), {metrics_[index].label, format(metric, value)});
  }
  return shown;
}

void RendererSink::show(const events::Progress& progress) {
  renderer_->progress({.epoch = progress.epoch,
                       .epochs = progress.epochs,
                       .split = progress.split,
                       .items = progress.items,
                       .total_items = progress.total_items,
                       .skipped = progress.skipped,
                       .seconds = progress.seconds,
                       .items_per_second = progress.items_per_second,
                       .seconds_left = progress.seconds_left,
                       .values = shown(progress.values)});
}

void RendererSink::show(const events::EpochEnd& end) {
  const auto train = std::exchange(train_, {}), valid = std::exchange(valid_, {});
  renderer_->epoch({end.epoch, end.epochs, shown(train.values), shown(valid.values), train.skipped});
}

void RendererSink::show(const events::TextPoint& point) {
  const bool has_lines = point.text.find('\n') != std::string::npos;
  renderer_->message(std::string{train::name(point.split)} + " " + point.metric + ":" + (has_lines ? "\n" : " ") +
                     point.text);
}

void RendererSink::show(const events::Summary& summary) {
  std::vector<MetricSummary> table;
  for (const auto& row : summary.rows) {
    const auto index = static_cast<std::size_t>(row.metric);
    if (index >= metrics_.size()) continue;
    table.push_back({row.split, metrics_[index].name, format(row.metric, row.min), format(row.metric, row.max),
                     row.min_epoch, row.max_epoch});
  }
  renderer_->summary(table);
}

}  // namespace burn::train
