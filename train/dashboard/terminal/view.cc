#include "train/dashboard/terminal/view.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "train/dashboard/terminal/chart.h"
#include "train/dashboard/terminal/status.h"

namespace burn::train::dashboard {
namespace {

constexpr Style kBold{.bold = true}, kGrey{.color = Color::grey}, kSelected{.bold = true, .reverse = true};
constexpr Split kAllSplits[] = {Split::train, Split::valid, Split::test};

Color color_of(Split split) {
  switch (split) {
    case Split::train:
      return Color::cyan;
    case Split::valid:
      return Color::yellow;
    case Split::test:
      return Color::magenta;
  }
  return Color::standard;
}

struct Tab {
  std::size_t metric;
  int x, width;
};

// As many tabs as fit, including the selected one.
std::vector<Tab> tabs(const RunState& run, const ViewState& view, int width) {
  const auto& metrics = run.metrics();
  std::size_t first = 0;
  while (true) {
    std::vector<Tab> found;
    int x = 1;
    for (std::size_t i = first; i < metrics.size(); ++i) {
      const int tab = columns_of(metrics[i].name) + 2;
      if (x + tab > width && !found.empty()) break;
      found.push_back({i, x, tab});
      x += tab + 1;
    }
    if (found.empty() || view.metric <= found.back().metric || first + 1 >= metrics.size()) return found;
    ++first;
  }
}

std::vector<Point> points_of(const Series& series, bool recent) {
  std::vector<Point> points;
  const auto add = [&](const Bucket& bucket) {
    points.push_back({static_cast<double>(bucket.step), bucket.count > 0 ? bucket.mean : std::nan("")});
  };
  if (recent)
    for (const auto& bucket : series.recent()) add(bucket);
  else
    for (const auto& bucket : series.buckets()) add(bucket);
  return points;
}

void mark_not_finite(Chart& chart, const Series& series, double from) {
  for (const auto& bucket : series.buckets()) {
    const auto x = static_cast<double>(bucket.step);
    if (bucket.not_finite > 0 && x >= from) chart.not_finite.push_back(x);
  }
}

Chart chart_of(const RunState& run, const ViewState& view) {
  const bool recent = view.pane == Pane::recent;
  Chart chart;
  chart.logarithmic = view.logarithmic;
  const auto& of_train = run.curve(view.metric, Split::train).steps.recent();
  const double from = recent && !of_train.empty() ? static_cast<double>(of_train.front().step) : -HUGE_VAL;
  for (const auto split : kAllSplits) {
    const auto& curve = run.curve(view.metric, split);
    const bool by_step = !curve.steps.empty();
    const auto& series = by_step ? curve.steps : curve.epochs;
    auto points = points_of(series, recent);
    std::erase_if(points, [&](const Point& point) { return point.x < from; });
    mark_not_finite(chart, series, from);
    const bool is_smoothed = view.smoothed && by_step;
    if (!by_step) {
      for (const auto& point : points) chart.marks.push_back({point, U'•', color_of(split)});
    }
    if (is_smoothed) chart.lines.push_back({points, Color::grey});
    chart.lines.push_back(
        {is_smoothed ? smooth(std::move(points), view.smoothing) : std::move(points), color_of(split)});
    const auto* best = curve.best();
    if (best != nullptr && split != Split::train && static_cast<double>(best->step) >= from)
      chart.marks.push_back({{static_cast<double>(best->step), best->value}, U'◆', Color::green});
  }
  return chart;
}

void draw_legend(Frame& frame, const RunState& run, const ViewState& view, int y) {
  const auto& metric = run.metrics()[view.metric];
  constexpr std::string_view kPanes[] = {"full history", "recent history", "summary"};
  auto text = std::string{kPanes[static_cast<std::size_t>(view.pane)]};
  if (view.logarithmic) text += ", log scale";
  if (view.smoothed) text += fmt::format(", smoothing {:.2f}", view.smoothing);
  int x = frame.put(1, y, text, kGrey) + 2;
  for (const auto split : kAllSplits) {
    const auto& curve = run.curve(view.metric, split);
    if (curve.empty()) continue;
    const bool by_step = !curve.steps.empty();
    x = frame.put(x, y, by_step ? "━━ " : "•━ ", {.color = color_of(split)});
    const double value = by_step ? curve.steps.buckets().back().mean : curve.last ? curve.last->value : std::nan("");
    x = frame.put(x, y, fmt::format("{} {}", train::name(split), events::format_value(metric.format, value))) + 2;
  }
  if (const auto* best = run.curve(view.metric, Split::valid).best())
    frame.put(x, y, fmt::format("◆ best {} in epoch {}", events::format_value(metric.format, best->value), best->epoch),
              {.color = Color::green});
}

// The texts of the splits side by side if they fit, else one below the other.
void draw_texts(Frame& frame, Rect area, const RunState& run, const ViewState& view) {
  int x = area.x + 1, top = area.y, bottom = top;
  for (const auto split : kAllSplits) {
    const auto& text = run.text(view.metric, split);
    if (text.empty()) continue;
    std::vector<std::string> lines{std::string{train::name(split)}};
    std::istringstream stream{text};
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    int width = 0;
    for (const auto& line : lines) width = std::max(width, columns_of(line));
    if (x > area.x + 1 && x + width > area.x + area.width) {
      x = area.x + 1;
      top = bottom + 1;
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const int y = top + static_cast<int>(i);
      if (y >= area.y + area.height) break;
      frame.put(x, y, lines[i], i == 0 ? Style{.color = color_of(split)} : Style{}, area.x + area.width);
      bottom = std::max(bottom, y + 1);
    }
    x += width + 4;
  }
}

void draw_summary(Frame& frame, Rect area, const RunState& run, const ViewState& view) {
  frame.put(area.x + 1, area.y,
            fmt::format("{:20} {:6} {:>12} {:>12} {:>7} {:>9}", "metric", "split", "last", "best", "epoch", "points"),
            kBold);
  int y = area.y + 1;
  for (std::size_t i = 0; i < run.metrics().size(); ++i) {
    if (run.is_text(i)) continue;
    for (const auto split : kAllSplits) {
      const auto& curve = run.curve(i, split);
      if (curve.empty()) continue;
      const auto& metric = run.metrics()[i];
      const auto text = [&](const EpochValue* value) {
        return value == nullptr ? std::string{"-"} : events::format_value(metric.format, value->value);
      };
      const auto line = fmt::format("{:20.20} {:6} {:>12} {:>12} {:>7} {:>9}", metric.name, train::name(split),
                                    text(curve.last ? &*curve.last : nullptr), text(curve.best()),
                                    curve.best() != nullptr ? std::to_string(curve.best()->epoch) : "-",
                                    curve.steps.points() + curve.epochs.points());
      if (y >= area.y + area.height) return;
      frame.put(area.x + 1, y++, line, {.color = color_of(split), .bold = i == view.metric});
    }
  }
}

void draw_lines(Frame& frame, Rect area, const std::vector<std::string>& lines) {
  frame.box(area);
  for (std::size_t i = 0; i < lines.size(); ++i)
    frame.put(area.x + 2, area.y + 1 + static_cast<int>(i), lines[i], {}, area.x + area.width - 1);
}

void draw_window(Frame& frame, const std::vector<std::string>& lines) {
  int width = 0;
  for (const auto& line : lines) width = std::max(width, columns_of(line) + 4);
  const int height = static_cast<int>(lines.size()) + 2;
  draw_lines(frame, {(frame.width() - width) / 2, std::max((frame.height() - height) / 2, 0), width, height}, lines);
}

void draw_help(Frame& frame) {
  draw_window(frame,
              {"left right   another metric; or click on its tab", "up down      full history, recent history, summary",
               "l            logarithmic scale", "s            smoothing on or off",
               "+ -          smoother, less smooth", "q            stop the training", "h            close this help",
               "", "◆ the best epoch of validation    ✗ a value that is not finite"});
}

void draw_question(Frame& frame, bool can_stop) {
  if (can_stop)
    draw_window(frame, {"Stop the training?", "", "s   stop after this step, with a checkpoint",
                        "d   stop after this step, without a checkpoint", "e   end the program at once", "c   go on"});
  else
    draw_window(frame, {"Leave the dashboard?", "", "e   leave", "c   go on"});
}

}  // namespace

Action press(ViewState& view, std::size_t metrics, Key key, char character) {
  if (view.asks_to_stop) {
    view.asks_to_stop = false;
    if (character == 's' && view.can_stop) return Action::stop_with_checkpoint;
    if (character == 'd' && view.can_stop) return Action::stop_without_checkpoint;
    if (character == 'e') return view.can_stop ? Action::end_at_once : Action::leave;
    view.asks_to_stop = character != 'c' && character != 'q' && key != Key::escape;  // other keys: no answer
    return Action::none;
  }
  constexpr std::uint8_t kPanes = 3;
  const auto pane = static_cast<std::uint8_t>(view.pane);
  if (view.help && (key == Key::escape || character == 'q')) {
    view.help = false;
  } else if (key == Key::left && metrics > 0) {
    view.metric = (view.metric + metrics - 1) % metrics;
  } else if (key == Key::right && metrics > 0) {
    view.metric = (view.metric + 1) % metrics;
  } else if (key == Key::up) {
    view.pane = static_cast<Pane>((pane + kPanes - 1) % kPanes);
  } else if (key == Key::down) {
    view.pane = static_cast<Pane>((pane + 1) % kPanes);
  } else if (character == 'l') {
    view.logarithmic = !view.logarithmic;
  } else if (character == 's') {
    view.smoothed = !view.smoothed;
  } else if (character == '+' || character == '=') {
    view.smoothed = true;
    view.smoothing = std::min(1 - (1 - view.smoothing) / 2, 0.9995);
  } else if (character == '-') {
    view.smoothed = true;
    view.smoothing = std::max(1 - (1 - view.smoothing) * 2, 0.0);
  } else if (character == 'h' || character == '?') {
    view.help = !view.help;
  } else if (character == 'q') {
    view.asks_to_stop = true;
  }
  return Action::none;
}

std::optional<std::size_t> tab_at(const RunState& run, const ViewState& view, int width, int x, int y) {
  if (y != 1) return std::nullopt;
  for (const auto& tab : tabs(run, view, width)) {
    if (x >= tab.x && x < tab.x + tab.width) return tab.metric;
  }
  return std::nullopt;
}

void draw(Frame& frame, const RunState& run, const ViewState& view, const Moment& moment) {
  const int width = frame.width(), height = frame.height();
  draw_title(frame, run, moment);
  for (const auto& tab : tabs(run, view, width))
    frame.put(tab.x, 1, " " + run.metrics()[tab.metric].name + " ", tab.metric == view.metric ? kSelected : Style{},
              width);
  // From the bottom: keys, the output pane (a fifth of the height), two bars, three lines of status.
  const int pane = std::max((height - 9) / 5, 1);
  const int status = height - 1 - pane - 1 - 2 - 3;
  const Rect main{0, 3, width, status - 3};
  if (view.metric < run.metrics().size()) {
    const bool is_text = run.is_text(view.metric) && view.pane != Pane::summary;
    if (!is_text) draw_legend(frame, run, view, 2);
    if (view.pane == Pane::summary)
      draw_summary(frame, main, run, view);
    else if (is_text)
      draw_texts(frame, main, run, view);
    else
      draw(frame, main, chart_of(run, view));
  } else {
    frame.put(1, 3, "waiting for the first event of the training", kGrey);
  }
  draw_status(frame, {0, status, width, 5}, run, moment);
  draw_output(frame, {0, status + 5, width, pane + 1}, run, moment);
  frame.put(1, height - 1, "←→ metric  ↑↓ view  l log  s + - smoothing  h help  q stop", kGrey);
  if (view.help) draw_help(frame);
  if (view.asks_to_stop) draw_question(frame, view.can_stop);
}

}  // namespace burn::train::dashboard
