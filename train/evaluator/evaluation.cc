#include "train/evaluator/evaluation.h"

#include <cmath>
#include <fstream>

#include <fmt/format.h>

#include "base/error.h"
#include "client/record/pacer.h"
#include "nn/module/config.h"
#include "train/render/cli_renderer.h"
#include "train/render/renderer_sink.h"

namespace burn::train {
namespace {

std::vector<metric::MetricFactory> metrics_or_loss(const EvaluatorOptions& options) {
  if (!options.metrics.empty()) return options.metrics;
  return {[] { return std::make_unique<metric::Loss>(); }};
}

std::vector<std::shared_ptr<events::EventSink>> sinks_of(const EvaluatorOptions& options) {
  std::vector<RendererSink::Format> formats;
  for (const auto& make : metrics_or_loss(options)) {
    formats.emplace_back(
        [metric = std::shared_ptr<metric::Metric>(make())](double value) { return metric->format(value); });
  }
  const auto renderer = options.renderer ? options.renderer : std::make_shared<CliRenderer>();
  std::vector<std::shared_ptr<events::EventSink>> sinks{std::make_shared<RendererSink>(renderer, std::move(formats))};
  sinks.insert(sinks.end(), options.loggers.begin(), options.loggers.end());
  return sinks;
}

events::Start start_of(const EvaluatorOptions& options, const std::string& name, const metric::MetricSet& metrics) {
  events::Start start{.run = "evaluation of " + name, .name = options.artifact_dir.filename().string() + " " + name};
  for (const auto& metric : metrics.metrics())
    start.metrics.push_back({metric->name(), metric->label(), metric->higher_is_better(), metric->value_format()});
  start.epochs = 1;
  return start;
}

std::vector<events::MetricValue> numbers(const metric::MetricSet& metrics, const std::vector<double>& values) {
  std::vector<events::MetricValue> told;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!metrics.metrics()[i]->is_text()) told.push_back({static_cast<std::int32_t>(i), values[i]});
  }
  return told;
}

// Whether a line of evaluation.jsonl belongs to that data set.
bool is_of(const std::string& line, const std::string& set) {
  try {
    const auto found = nn::detail::JsonReader::parse(line, "evaluation").find("set");
    return found && found->string() == set;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

const EvaluatedMetric& Evaluation::metric(std::string_view metric_name) const {
  std::string known;
  for (const auto& metric : metrics) {
    if (metric.name == metric_name) return metric;
    known += (known.empty() ? "" : ", ") + metric.name;
  }
  throw Error(StatusCode::not_found,
              fmt::format("evaluation of {}: no metric \"{}\"; there are: {}", name, metric_name, known));
}

EvaluationPass::EvaluationPass(const EvaluatorOptions& options, std::string name, std::int64_t total_items)
    : options_(options),
      name_(std::move(name)),
      total_items_(total_items),
      metrics_(metrics_or_loss(options)),
      events_(sinks_of(options)),
      start_(Clock::now()) {
  events_.publish(start_of(options, name_, metrics_));
  events_.publish(events::SplitStart{Split::test, 1, total_items});
}

void EvaluationPass::batch(const StepOutput& output) {
  const auto measured = metrics_.measure(output);
  Device{measured.numbers.device()}.flush();
  metrics_.push(measured, output.items);
  const auto items = metrics_.items();
  metrics_.take(client::Pacer::kMaxAheadFarAway);  // the pacer limits all loops to this
  if (metrics_.items() != items) tell_progress();
}

void EvaluationPass::tell_progress() {
  events::Progress progress{.split = Split::test, .epoch = 1, .epochs = 1};
  progress.items = metrics_.items();
  progress.total_items = total_items_;
  progress.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  progress.items_per_second = progress.seconds > 0 ? static_cast<double>(progress.items) / progress.seconds : 0;
  if (progress.items_per_second > 0)
    progress.seconds_left = static_cast<double>(total_items_ - progress.items) / progress.items_per_second;
  progress.values = numbers(metrics_, metrics_.values_so_far());
  events_.publish(progress);
}

Evaluation EvaluationPass::finish() {
  metrics_.take(0);
  Evaluation result{.name = name_, .items = metrics_.items(), .seconds = 0, .metrics = {}};
  result.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  tell_progress();
  std::string line;
  for (const auto& metric : metrics_.metrics()) {
    result.metrics.push_back({metric->name(), metric->value(), metric->text()});
    if (metric->is_text())
      events_.publish(events::TextPoint{metric->name(), Split::test, 0, metric->text()});
    else
      line += fmt::format(" {} {}", metric->label(), metric->text());
  }
  events_.publish(
      events::SplitEnd{Split::test, 1, 0, result.items, 0, result.seconds, numbers(metrics_, metrics_.values())});
  if (options_.summary) events_.publish(events::Message{events::Level::info, name_ + ":" + line});
  events_.publish(events::End{});
  events_.flush();
  write(result);
  return result;
}

void EvaluationPass::write(const Evaluation& result) const {
  std::error_code error;
  std::filesystem::create_directories(options_.artifact_dir, error);
  if (error) {
    throw Error(StatusCode::unavailable,
                "cannot make the folder " + options_.artifact_dir.string() + ": " + error.message());
  }
  const auto path = options_.artifact_dir / "evaluation.jsonl";
  std::string lines, line;
  std::ifstream before(path);
  while (std::getline(before, line)) {
    if (!is_of(line, result.name)) lines += line + "\n";
  }
  nn::detail::JsonWriter json;
  json.begin_object();
  json.key("set");
  json.value(result.name);
  json.key("items");
  json.value(result.items);
  json.key("seconds");
  json.value(result.seconds);
  for (const auto& metric : result.metrics) {
    json.key(metric.name);
    const auto index = metrics_.find(metric.name);
    if (index && metrics_.metrics()[*index]->is_text())
      json.value(metric.text);
    else if (std::isfinite(metric.value))
      json.value(metric.value);
    else
      json.null();
  }
  json.end_object();
  nn::detail::write_file(path, lines + json.text());
}

}  // namespace burn::train
