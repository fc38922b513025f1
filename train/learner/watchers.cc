#include "train/learner/watchers.h"

#include "train/render/cli_renderer.h"
#include "train/render/renderer_sink.h"

namespace burn::train {

std::vector<std::shared_ptr<events::EventSink>> make_watchers(const TrainingOptions& options,
                                                              const std::vector<metric::MetricFactory>& metrics) {
  std::vector<RendererSink::Format> formats;
  for (const auto& make : metrics) {
    formats.emplace_back(
        [metric = std::shared_ptr<metric::Metric>(make())](double value) { return metric->format(value); });
  }
  std::vector<std::shared_ptr<events::EventSink>> sinks;
  const auto renderer = options.renderer ? options.renderer : std::make_shared<CliRenderer>();
  sinks.push_back(std::make_shared<RendererSink>(renderer, std::move(formats)));
  sinks.insert(sinks.end(), options.loggers.begin(), options.loggers.end());
  return sinks;
}

}  // namespace burn::train
