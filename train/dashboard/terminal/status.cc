#include "train/dashboard/terminal/status.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

namespace burn::train::dashboard {
namespace {

constexpr Style kGrey{.color = Color::grey};

std::string state_text(const RunState& run) {
  if (const auto& end = run.end()) return std::string{events::name(end->reason)};
  return run.has_begun() ? "running" : "not begun";
}

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : "   ") + part;
  return text;
}

std::string values_text(const RunState& run, Split split) {
  std::string text;
  for (std::size_t i = 0; i < run.metrics().size(); ++i) {
    const auto& last = run.curve(i, split).last;
    if (!last) continue;
    const auto& metric = run.metrics()[i];
    text += fmt::format("{}{} {}", text.empty() ? std::string{train::name(split)} + " " : " ", metric.label,
                        events::format_value(metric.format, last->value));
  }
  return text;
}

double share(double part, double whole) { return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0; }

double total_share(const RunState& run) {
  if (const auto& end = run.end(); end && end->reason == events::Ended::completed) return 1;
  if (run.start().max_steps > 0)
    return share(static_cast<double>(run.step()), static_cast<double>(run.start().max_steps));
  const auto& p = run.progress();
  if (!p) return share(static_cast<double>(run.epoch()), static_cast<double>(run.start().epochs));
  const double of_epoch =
      p->split == Split::train ? share(static_cast<double>(p->items), static_cast<double>(p->total_items)) : 1;
  return share(static_cast<double>(p->epoch - 1) + of_epoch, static_cast<double>(p->epochs));
}

void draw_bar(Frame& frame, int y, std::string_view name, double done, const std::string& text, Color color) {
  const int begin = 8, width = std::max(frame.width() - begin - 38, 10);
  frame.put(1, y, name);
  const double eighths = done * width * 8;
  for (int i = 0; i < width; ++i) {
    const int filled = std::clamp(static_cast<int>(eighths) - 8 * i, 0, 8);
    // U+2588 is a full block; each of the seven characters after it is an eighth smaller.
    frame.put(begin + i, y, filled == 0 ? U'·' : static_cast<char32_t>(0x2590 - filled),
              filled == 0 ? kGrey : Style{.color = color});
  }
  frame.put(begin + width + 1, y, fmt::format("{:5.1f} %  {}", 100 * done, text));
}

}  // namespace

std::string duration_text(double seconds) {
  const auto total = static_cast<std::int64_t>(std::clamp(seconds, 0.0, 35999999.0));
  const auto hours = total / 3600, minutes = total / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, total % 60)
                   : fmt::format("{}:{:02}", minutes, total % 60);
}

namespace {

struct Title {
  std::string left, right;
  bool has_device_use = false;  // left of it, if there is room
};

Title title_of(const RunState& run, const Moment& moment, int width) {
  const auto until = run.end() ? run.last_us() : moment.now_us;
  const double seconds = run.first_us() > 0 ? static_cast<double>(until - run.first_us()) / 1e6 : 0;
  Title title{fmt::format("{}  on {}", run.start().name, run.start().device),
              fmt::format("{}  {}", state_text(run), duration_text(seconds))};
  const auto& device_use = run.device_use();
  if (!device_use) return title;
  const auto use = "  " + to_string(*device_use);
  title.has_device_use = columns_of(title.left) + columns_of(use) + columns_of(title.right) + 4 <= width;
  if (title.has_device_use) title.left += use;
  return title;
}

}  // namespace

void draw_title(Frame& frame, const RunState& run, const Moment& moment) {
  frame.fill({0, 0, frame.width(), 1}, U' ', {.reverse = true});
  const auto title = title_of(run, moment, frame.width());
  const int end = frame.put(1, 0, title.left, {.bold = true, .reverse = true});
  frame.put(std::max(end + 1, frame.width() - columns_of(title.right) - 1), 0, title.right, {.reverse = true});
}

void draw_status(Frame& frame, Rect area, const RunState& run, const Moment& moment) {
  const auto& p = run.progress();
  std::vector<std::string> first, second;
  if (p) {
    first.push_back(fmt::format("epoch {}/{}", p->epoch, p->epochs));
    first.push_back(fmt::format("step {}", run.step()));
    first.push_back(fmt::format("rate {:.3g}", p->rate));
    first.push_back(fmt::format("{:.0f} items/s", p->items_per_second));
    if (p->skipped > 0) first.push_back(fmt::format("{} skipped", p->skipped));
  }
  if (const auto left = run.seconds_left()) first.push_back(duration_text(*left) + " left");
  if (const auto& checkpoint = run.checkpoint()) {
    const double age = static_cast<double>(moment.now_us - run.checkpoint_us()) / 1e6;
    second.push_back(fmt::format("checkpoint of step {}, {} ago", checkpoint->step, duration_text(age)));
  } else {
    second.emplace_back("no checkpoint yet");
  }
  if (const auto& phases = run.phases(); phases && phases->total() > 0) {
    second.push_back(fmt::format("{:.0f} % waits for data", 100 * phases->waiting_for_data / phases->total()));
    auto text = events::advice(*phases);
    const bool has_room = columns_of(join(second)) + columns_of(text) + 5 <= frame.width();
    if (!text.empty() && has_room) second.push_back(std::move(text));
  }
  if (run.device_use() && !title_of(run, moment, frame.width()).has_device_use)
    second.push_back(to_string(*run.device_use()));
  frame.put(1, area.y, join(first));
  frame.put(1, area.y + 1, join(second));
  auto values = values_text(run, Split::train);
  for (const auto split : {Split::valid, Split::test}) {
    if (const auto more = values_text(run, split); !more.empty()) values += (values.empty() ? "" : "   ") + more;
  }
  frame.put(1, area.y + 2, values.empty() ? values : "last epoch: " + values);
  const double of_pass = p ? share(static_cast<double>(p->items), static_cast<double>(p->total_items)) : 0;
  draw_bar(frame, area.y + 3, p ? train::name(p->split) : "train", of_pass,
           p ? fmt::format("{}/{}  {}", p->items, p->total_items, duration_text(p->seconds_left)) : "", Color::cyan);
  draw_bar(frame, area.y + 4, "total", total_share(run), "", Color::green);
}

void draw_output(Frame& frame, Rect area, const RunState& run, const Moment& moment) {
  for (int x = 0; x < area.width; ++x) frame.put(x, area.y, U'─', kGrey);
  frame.put(2, area.y, " messages and output ", kGrey);
  // Messages are always shown above the output: they are few, and more important.
  const int lines = area.height - 1;
  const auto& messages = run.messages();
  const int output = moment.output != nullptr ? static_cast<int>(moment.output->size()) : 0;
  const int shown_messages =
      std::min(static_cast<int>(messages.size()), std::max(lines - std::min(output, lines / 2 + 1), lines > 0 ? 1 : 0));
  int y = area.y + 1;
  for (int i = shown_messages; i > 0; --i) {
    const auto& message = messages[messages.size() - static_cast<std::size_t>(i)];
    const auto color = message.level == events::Level::info      ? Color::standard
                       : message.level == events::Level::warning ? Color::yellow
                                                                 : Color::red;
    frame.put(1, y++, message.text, {.color = color, .bold = true});
  }
  const int shown_output = std::min(output, lines - shown_messages);
  for (int i = shown_output; i > 0; --i)
    frame.put(1, y++, (*moment.output)[moment.output->size() - static_cast<std::size_t>(i)], kGrey);
}

}  // namespace burn::train::dashboard
