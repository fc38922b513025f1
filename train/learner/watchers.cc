#include "train/learner/watchers.h"

#include <algorithm>

#include "train/render/cli_renderer.h"
#include "train/render/renderer_sink.h"

namespace burn::train {

namespace {

using Formats = std::vector<RendererSink::Format>;

// Of metrics of its own, as a renderer is on another thread. In the order of NumberedMetrics.
Formats formats_of(const TrainingOptions& options, const SplitMetrics& metrics) {
  std::vector<std::shared_ptr<metric::Metric>> all;
  const auto add = [&all](const std::vector<metric::MetricFactory>& factories) {
    for (const auto& make : factories) {
      const std::shared_ptr<metric::Metric> made = make();
      if (std::ranges::none_of(all, [&](const auto& known) { return known->name() == made->name(); }))
        all.push_back(made);
    }
    if (factories.empty() && std::ranges::none_of(all, [](const auto& known) { return known->name() == "Loss"; }))
      all.push_back(std::make_shared<metric::Loss>());
  };
  add(options.train_metrics);
  if (metrics.has(Split::valid)) add(options.valid_metrics);
  Formats formats;
  for (const auto& metric : all) formats.emplace_back([metric](double value) { return metric->format(value); });
  return formats;
}

}  // namespace

std::vector<std::shared_ptr<events::EventSink>> make_watchers(const TrainingOptions& options,
                                                              const SplitMetrics& metrics) {
  std::vector<std::shared_ptr<events::EventSink>> sinks;
  const auto renderer = options.renderer ? options.renderer : std::make_shared<CliRenderer>();
  sinks.push_back(std::make_shared<RendererSink>(renderer, formats_of(options, metrics)));
  sinks.insert(sinks.end(), options.loggers.begin(), options.loggers.end());
  return sinks;
}

}  // namespace burn::train
