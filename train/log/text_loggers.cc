#include <charconv>
#include <ctime>

#include <fmt/format.h>

#include "base/overloaded.h"
#include "train/events/csv_text.h"
#include "train/events/json_text.h"
#include "train/log/loggers.h"

namespace burn::train {
namespace {

using events::csv_number;
using events::csv_text;
using events::json_text;

std::string seconds(std::int64_t time_us) { return fmt::format("{:.3f}", static_cast<double>(time_us) / 1e6); }
std::string number(double value) { return events::json_number(value); }
// The whole number after the text `before`; std::nullopt if there is none.
std::optional<std::int64_t> number_after(const std::string& line, std::string_view before) {
  const auto at = line.find(before);
  if (at == std::string::npos) return std::nullopt;
  std::int64_t value = 0;
  const char* begin = line.data() + at + before.size();
  if (std::from_chars(begin, line.data() + line.size(), value).ec != std::errc{}) return std::nullopt;
  return value;
}

std::string time_text(std::int64_t time_us) {
  const auto time = static_cast<std::time_t>(time_us / 1'000'000);
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[32];
  const auto size = std::strftime(text, sizeof text, "%F %T", &parts);
  return fmt::format("{}.{:03} UTC", std::string_view{text, size}, time_us / 1000 % 1000);
}

}  // namespace

// --- JSON ------------------------------------------------------------------------------------------------------------

void JsonLinesLogger::write(const events::Event& event) {
  const auto time = seconds(event.time_us);
  const auto values = [&](const std::vector<events::MetricValue>& all) {
    std::string text;
    for (const auto& [metric, value] : all)
      text += fmt::format(",{}:{}", json_text(metric_name(metric)), number(value));
    return text;
  };
  std::visit(
      Overloaded{
          [&](const events::Start& e) {
            put(fmt::format(
                R"({{"event":"start","time":{},"run":{},"name":{},"device":{},"epochs":{},"resumed":{},"step":{}}})",
                time, json_text(e.run), json_text(e.name), json_text(e.device), e.epochs, e.resumed, e.step));
          },
          [&](const events::MetricPoint& e) {
            put(fmt::format(
                R"({{"event":"point","time":{},"split":"{}","metric":{},"first_step":{},"step":{},"count":{},"not_finite":{},"mean":{},"min":{},"max":{}}})",
                time, train::name(e.split), json_text(metric_name(e.metric)), e.first_step, e.step, e.count,
                e.not_finite, number(e.mean), number(e.min), number(e.max)));
          },
          [&](const events::TextPoint& e) {
            put(fmt::format(R"({{"event":"text","time":{},"split":"{}","metric":{},"step":{},"text":{}}})", time,
                            train::name(e.split), json_text(e.metric), e.step, json_text(e.text)));
          },
          [&](const events::SplitEnd& e) {
            put(fmt::format(
                R"({{"event":"end of split","time":{},"split":"{}","epoch":{},"step":{},"items":{},"skipped":{},"seconds":{}{}}})",
                time, train::name(e.split), e.epoch, e.step, e.items, e.skipped, number(e.seconds), values(e.values)));
          },
          [&](const events::EpochEnd& e) {
            put(fmt::format(R"({{"event":"end of epoch","time":{},"epoch":{},"step":{},"rate":{}}})", time, e.epoch,
                            e.step, number(e.rate)));
          },
          [&](const events::CheckpointWritten& e) {
            put(fmt::format(R"({{"event":"checkpoint","time":{},"epoch":{},"step":{},"seconds":{}}})", time, e.epoch,
                            e.step, number(e.seconds)));
          },
          [&](const events::Message& e) {
            put(fmt::format(R"({{"event":"message","time":{},"level":{},"text":{}}})", time, static_cast<int>(e.level),
                            json_text(e.text)));
          },
          [&](const events::End& e) {
            put(fmt::format(R"({{"event":"end","time":{},"reason":"{}","text":{}}})", time, events::name(e.reason),
                            json_text(e.text)));
          },
          [](const auto&) {}},
      event.body);
}

bool JsonLinesLogger::keeps(const std::string& line, const events::Start& start) const {
  const auto step = number_after(line, "\"step\":");
  return line.starts_with("{") && line.ends_with("}") && (!step || *step <= start.step);
}

// --- CSV -------------------------------------------------------------------------------------------------------------

void CsvLogger::write(const events::Event& event) {
  const auto time = seconds(event.time_us);
  if (const auto* e = std::get_if<events::MetricPoint>(&event.body)) {
    put(fmt::format("{},step,{},{},,{},{},{},{},{}", time, train::name(e->split), csv_text(metric_name(e->metric)),
                    e->step, e->count, csv_number(e->mean), csv_number(e->min), csv_number(e->max)));
  } else if (const auto* end = std::get_if<events::SplitEnd>(&event.body)) {
    for (const auto& [metric, value] : end->values) {
      const auto text = csv_number(value);
      put(fmt::format("{},epoch,{},{},{},{},{},{},{},{}", time, train::name(end->split), csv_text(metric_name(metric)),
                      end->epoch, end->step, end->items, text, text, text));
    }
  }
}

// The step is the fifth column from the end, as the metric before it may contain commas.
bool CsvLogger::keeps(const std::string& line, const events::Start& start) const {
  auto end = line.size();
  for (int i = 0; i < 4 && end != std::string::npos && end > 0; ++i) end = line.rfind(',', end - 1);
  if (end == std::string::npos || end == 0) return false;
  const auto begin = line.rfind(',', end - 1);
  if (begin == std::string::npos) return false;
  const auto step = number_after(line.substr(begin, end - begin), ",");
  return step && *step <= start.step;
}

// --- for people ------------------------------------------------------------------------------------------------------

void ApplicationLogger::write(const events::Event& event) {
  const auto line = [&](const std::string& text) { put(time_text(event.time_us) + "  " + text); };
  std::visit(Overloaded{[&](const events::Start& e) {
                          line(e.resumed
                                   ? fmt::format("run {} is resumed after epoch {}, step {}", e.run, e.epoch, e.step)
                                   : fmt::format("run {} begins: {} epochs on {}", e.run, e.epochs, e.device));
                        },
                        [&](const events::SplitEnd& e) {
                          std::string text = fmt::format("epoch {} {}:", e.epoch, train::name(e.split));
                          for (const auto& [metric, value] : e.values) {
                            const auto index = static_cast<std::size_t>(metric);
                            if (index >= metrics().size()) continue;
                            text += fmt::format(" {} {}", metrics()[index].label,
                                                events::format_value(metrics()[index].format, value));
                          }
                          line(text + fmt::format(" ({} items in {:.1f} s)", e.items, e.seconds));
                        },
                        [&](const events::CheckpointWritten& e) {
                          line(fmt::format("checkpoint of step {} in {:.2f} s", e.step, e.seconds));
                        },
                        [&](const events::Message& e) {
                          constexpr std::string_view kLevels[] = {"", "warning: ", "error: "};
                          line(std::string{kLevels[static_cast<std::size_t>(e.level)]} + e.text);
                        },
                        [&](const events::Phases& e) {
                          if (const auto text = events::advice(e); !text.empty()) line(text);
                        },
                        [&](const events::End& e) {
                          line(std::string{events::name(e.reason)} + (e.text.empty() ? "" : ": " + e.text));
                        },
                        [](const auto&) {}},
             event.body);
}

}  // namespace burn::train
