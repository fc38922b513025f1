#include "train/learner/watchers.h"

#include <algorithm>
#include <iostream>
#include <optional>

#include "base/error.h"
#include "base/settings.h"
#include "train/dashboard/terminal/terminal.h"
#include "train/dashboard/web/web_dashboard.h"
#include "train/events/event_file.h"
#include "train/log/loggers.h"
#include "train/metric/device_use_sampler.h"
#include "train/render/cli_renderer.h"
#include "train/render/renderer_sink.h"

namespace burn::train {

namespace {

using Formats = std::vector<RendererSink::Format>;

// Uses separate instances of the metrics, as renderers run on another thread. In the order of NumberedMetrics.
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

dashboard::Stop stop_of(const Interrupter& interrupter) {
  return [interrupter](dashboard::StopRequest request) {
    interrupter.stop("asked at the dashboard", request == dashboard::StopRequest::with_checkpoint);
  };
}

// The renderer of the options; else the terminal's dashboard if there is a terminal, or lines.
std::shared_ptr<events::EventSink> view_of(const TrainingOptions& options, Formats formats,
                                           const events::DeviceUseNow& device_use) {
  if (options.renderer) return std::make_shared<RendererSink>(options.renderer, std::move(formats));
  if (setting(Setting::renderer) != "lines" && dashboard::terminal_is_usable()) {
    try {
      return std::make_shared<dashboard::TerminalDashboard>(
          dashboard::TerminalOptions{options.artifact_dir, stop_of(options.interrupter), formats, device_use});
    } catch (const Error& error) {
      std::cerr << error.what() << "; lines are written instead\n";
    }
  }
  return std::make_shared<RendererSink>(std::make_shared<CliRenderer>(), std::move(formats));
}

}  // namespace

std::vector<std::shared_ptr<events::EventSink>> make_watchers(const TrainingOptions& options,
                                                              const SplitMetrics& metrics, const Device& device) {
  const events::DeviceUseNow device_use = [sampler = std::make_shared<metric::DeviceUseSampler>(), device] {
    sampler->ask(device);
    return sampler->last();
  };
  std::vector<std::shared_ptr<events::EventSink>> sinks;
  std::optional<dashboard::WebOptions> web;
  if (options.dashboard)
    web = dashboard::WebOptions{value_or_throw(dashboard::parse_address(*options.dashboard)), options.dashboard_token};
  // Dashboards read the earlier events of a resumed run from its file, so they precede the sink that truncates it.
  sinks.push_back(view_of(options, formats_of(options, metrics), device_use));
  if (web)
    sinks.push_back(std::make_shared<dashboard::WebDashboard>(*web, options.artifact_dir, stop_of(options.interrupter),
                                                              device_use));
  sinks.push_back(std::make_shared<events::EventFileSink>(options.artifact_dir / "events"));
  sinks.push_back(std::make_shared<ApplicationLogger>(options.artifact_dir / "experiment.log"));
  sinks.insert(sinks.end(), options.loggers.begin(), options.loggers.end());
  return sinks;
}

}  // namespace burn::train
