#include "train/render/lines.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace burn::train {
namespace {

constexpr int kMaxBar = 30, kMinBar = 8;

int percent(const Progress& progress) {
  return progress.total_items == 0 ? 100 : static_cast<int>(100 * progress.items / progress.total_items);
}

// "0:07", "12:34", "1:02:03"
std::string duration(double seconds) {
  const auto total = static_cast<std::int64_t>(std::ceil(std::clamp(seconds, 0.0, 359999.0)));
  const auto hours = total / 3600, minutes = total / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, total % 60)
                   : fmt::format("{}:{:02}", minutes, total % 60);
}

std::string values_text(const std::vector<ShownValue>& values) {
  std::string text;
  for (const auto& value : values) text += fmt::format("{}{} {}", text.empty() ? "" : " ", value.label, value.text);
  return text;
}

// "51 %  4096/8000  2310 items/s  0:02 left", in parts that can be omitted from the end.
std::vector<std::string> progress_parts(const Progress& progress) {
  const auto digits = fmt::formatted_size("{}", progress.total_items);
  std::vector<std::string> parts{fmt::format("{:3} %", percent(progress)),
                                 fmt::format("{:{}}/{}", progress.items, digits, progress.total_items)};
  if (progress.skipped > 0) parts.push_back(fmt::format("{} skipped", progress.skipped));
  if (progress.items_per_second > 0) {
    parts.push_back(fmt::format("{:.0f} items/s", progress.items_per_second));
    parts.push_back(duration(progress.seconds_left) + " left");
  }
  return parts;
}

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const auto& part : parts) text += "  " + part;
  return text;
}

std::string bar(int width, int percent) {
  const int filled = (width - 2) * percent / 100;
  std::string text = "[" + std::string(static_cast<std::size_t>(filled), '=');
  if (filled < width - 2) text += '>' + std::string(static_cast<std::size_t>(width - 3 - filled), ' ');
  return text + "]";
}

}  // namespace

std::string bar_line(const Progress& progress, int columns) {
  const auto head = fmt::format("epoch {}/{} {} ", progress.epoch, progress.epochs, name(progress.split));
  auto parts = progress_parts(progress);
  const auto values = values_text(progress.values);
  if (!values.empty()) parts.insert(parts.begin() + 1, values);  // more important than the counts
  // The last column is not used: a terminal may wrap the line when it is filled.
  const auto room = [&] { return columns - 1 - static_cast<int>(head.size() + join(parts).size()); };
  while (parts.size() > 1 && room() < kMinBar) parts.pop_back();
  auto line = head;
  if (room() >= kMinBar) line += bar(std::min(room(), kMaxBar), percent(progress));
  line += join(parts);
  return line.substr(0, static_cast<std::size_t>(std::max(columns - 1, 0)));
}

std::string progress_line(const Progress& progress) {
  auto parts = progress_parts(progress);
  parts.push_back(values_text(progress.values));
  return fmt::format("  {}{}", name(progress.split), join(parts));
}

std::string epoch_line(const EpochSummary& summary) {
  auto line = fmt::format("epoch {}", summary.epoch);
  if (!summary.train.empty()) line += " train " + values_text(summary.train);
  if (!summary.valid.empty()) line += " valid " + values_text(summary.valid);
  if (summary.skipped > 0) line += fmt::format("  {} steps skipped", summary.skipped);
  return line;
}

std::string summary_table(const std::vector<MetricSummary>& metrics) {
  std::size_t longest = 6;
  for (const auto& metric : metrics) longest = std::max(longest, metric.name.size());
  auto text =
      fmt::format("split  {:{}}  {:>10}  {:>5}  {:>10}  {:>5}\n", "metric", longest, "min", "epoch", "max", "epoch");
  for (const auto& metric : metrics) {
    text += fmt::format("{:5}  {:{}}  {:>10}  {:>5}  {:>10}  {:>5}\n", name(metric.split), metric.name, longest,
                        metric.min, metric.min_epoch, metric.max, metric.max_epoch);
  }
  return text;
}

}  // namespace burn::train
