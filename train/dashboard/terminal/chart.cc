#include "train/dashboard/terminal/chart.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace burn::train::dashboard {
namespace {

constexpr int kLabelColumns = 9;

// The distance of ticks: 1, 2 or 5 times a power of ten, for about `about` ticks in the range.
double tick_step(double low, double high, int about) {
  const double rough = (high - low) / about, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double times : {1.0, 2.0, 5.0}) {
    if (times * power >= 0.8 * rough) return times * power;
  }
  return 10 * power;
}

struct Range {
  double low = 0, high = 1;
  bool is_empty = true;

  void add(double value) {
    low = is_empty ? value : std::min(low, value);
    high = is_empty ? value : std::max(high, value);
    is_empty = false;
  }
  // Extends the range to multiples of `step`.
  void round_to(double step) {
    low = std::floor(low / step + 1e-9) * step;
    high = std::ceil(high / step - 1e-9) * step;
  }
  // Gives the range a width if it has none or no values.
  void widen() {
    if (is_empty) low = 0, high = 1;
    if (high > low) return;
    const double margin = std::max(std::abs(low) * 0.1, 1e-6);
    low -= margin;
    high += margin;
  }
};

// Maps values to dots of the drawing area; y grows downwards.
class Scale {
 public:
  Scale(const Chart& chart, Rect plot) : is_log_(chart.logarithmic), plot_(plot) {
    for (const auto& line : chart.lines) {
      for (const auto& point : line.points) add(point);
    }
    for (const auto& mark : chart.marks) add(mark.at);
    for (const auto at : chart.not_finite) x_.add(at);
    x_.widen();
    y_.widen();
    if (!is_log_) y_.round_to(tick_step(y_.low, y_.high, y_ticks_about()));
  }

  // Values outside these limits would overflow the computation of the axes.
  bool is_shown(const Point& point) const {
    constexpr double kSmallest = 1e-300, kLargest = 1e300;
    return std::abs(point.y) <= kLargest && (!is_log_ || point.y >= kSmallest);
  }
  double dot_x(double x) const { return (x - x_.low) / (x_.high - x_.low) * (2 * plot_.width - 1); }
  double dot_y(double y) const { return (y_.high - of(y)) / (y_.high - y_.low) * (4 * plot_.height - 1); }
  int column(double x) const { return plot_.x + static_cast<int>(dot_x(x)) / 2; }
  int row(double y) const { return plot_.y + static_cast<int>(dot_y(y)) / 4; }

  std::vector<double> x_ticks() const { return ticks(x_.low, x_.high, std::max(plot_.width / 14, 2)); }
  std::vector<double> y_ticks() const {
    return is_log_ ? log_ticks(std::pow(10, y_.low), std::pow(10, y_.high), y_ticks_about())
                   : ticks(y_.low, y_.high, y_ticks_about());
  }

 private:
  int y_ticks_about() const { return std::clamp(plot_.height / 2, 2, 10); }
  double of(double y) const { return is_log_ ? std::log10(y) : y; }
  void add(const Point& point) {
    if (!is_shown(point)) return;
    x_.add(point.x);
    y_.add(of(point.y));
  }

  const bool is_log_;
  const Rect plot_;
  Range x_, y_;
};

// The dots of the drawing area: a bit mask per character, with the bits of Unicode's braille patterns.
class Dots {
 public:
  explicit Dots(Rect plot)
      : plot_(plot),
        cells_(static_cast<std::size_t>(std::max(plot.width, 0)) * static_cast<std::size_t>(std::max(plot.height, 0))) {
  }

  void set(int x, int y, Color color) {
    if (x < 0 || y < 0 || x >= 2 * plot_.width || y >= 4 * plot_.height) return;
    constexpr std::array<std::array<std::uint8_t, 2>, 4> kBits{
        {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
    auto& cell = cells_[static_cast<std::size_t>(y / 4) * static_cast<std::size_t>(plot_.width) +
                        static_cast<std::size_t>(x / 2)];
    cell.bits |= kBits.at(static_cast<std::size_t>(y % 4)).at(static_cast<std::size_t>(x % 2));
    cell.color = color;
  }
  void line(double x0, double y0, double x1, double y1, Color color) {
    const int steps = std::max(1, static_cast<int>(std::ceil(std::max(std::abs(x1 - x0), std::abs(y1 - y0)))));
    for (int i = 0; i <= steps; ++i) {
      const double t = static_cast<double>(i) / steps;
      set(static_cast<int>(x0 + (x1 - x0) * t), static_cast<int>(y0 + (y1 - y0) * t), color);
    }
  }
  void put_on(Frame& frame) const {
    for (int y = 0; y < plot_.height; ++y) {
      for (int x = 0; x < plot_.width; ++x) {
        const auto& cell =
            cells_[static_cast<std::size_t>(y) * static_cast<std::size_t>(plot_.width) + static_cast<std::size_t>(x)];
        if (cell.bits != 0) frame.put(plot_.x + x, plot_.y + y, 0x2800U + cell.bits, {.color = cell.color});
      }
    }
  }

 private:
  struct Braille {
    std::uint8_t bits = 0;
    Color color = Color::standard;
  };
  Rect plot_;
  std::vector<Braille> cells_;
};

void draw_axes(Frame& frame, Rect plot, const Scale& scale) {
  const Style grey{.color = Color::grey};
  for (int y = plot.y; y < plot.y + plot.height; ++y) frame.put(plot.x - 1, y, U'│', grey);
  const int bottom = plot.y + plot.height;
  frame.put(plot.x - 1, bottom, U'└', grey);
  for (int x = plot.x; x < plot.x + plot.width; ++x) frame.put(x, bottom, U'─', grey);
  for (const double tick : scale.y_ticks()) {
    const int row = scale.row(tick);
    if (row < plot.y || row >= bottom) continue;
    const auto text = tick_text(tick);
    frame.put(plot.x - 1 - columns_of(text), row, text, grey);
    frame.put(plot.x - 1, row, U'┤', grey);
  }
  int free_from = 0;
  for (const double tick : scale.x_ticks()) {
    const int column = scale.column(tick);
    const auto text = tick_text(tick);
    const int at = std::clamp(column - columns_of(text) / 2, 0, frame.width() - columns_of(text));
    if (column < plot.x || column >= plot.x + plot.width || at < free_from) continue;
    frame.put(column, bottom, U'┴', grey);
    free_from = frame.put(at, bottom + 1, text, grey) + 1;
  }
}

}  // namespace

std::vector<double> ticks(double low, double high, int about) {
  if (!(high > low) || about < 1) return {low};
  const double step = tick_step(low, high, about);
  std::vector<double> found;
  const double first = std::ceil(low / step - 1e-9), last = std::floor(high / step + 1e-9);
  for (int i = 0; i <= 4 * about && first + i <= last; ++i) found.push_back((first + i) * step);
  return found;
}

std::vector<double> log_ticks(double low, double high, int about) {
  std::vector<double> found;
  const double first = std::floor(std::log10(low)), last = std::ceil(std::log10(high));
  const bool is_short = last - first <= about;
  const double stride = std::max(1.0, std::ceil((last - first) / std::max(about, 1)));
  for (double power = first; power <= last; power += stride) {
    for (const double times : {1.0, 2.0, 5.0}) {
      if (times > 1 && !is_short) break;
      const double tick = times * std::pow(10, power);
      if (tick >= low * (1 - 1e-12) && tick <= high * (1 + 1e-12)) found.push_back(tick);
    }
  }
  return found;
}

std::string tick_text(double value) {
  if (std::abs(value) < 1e-12) return "0";
  const double size = std::abs(value);
  if (size >= 1e9 || size < 1e-3) return fmt::format("{:.1e}", value);
  if (size >= 1e6) return fmt::format("{:.4g}M", value / 1e6);
  if (size >= 1e4) return fmt::format("{:.4g}k", value / 1e3);
  return fmt::format("{:.4g}", value);
}

void draw(Frame& frame, Rect area, const Chart& chart) {
  const Rect plot{area.x + kLabelColumns, area.y, area.width - kLabelColumns, area.height - 2};
  if (plot.width < 4 || plot.height < 2) return;
  const Scale scale{chart, plot};
  draw_axes(frame, plot, scale);
  Dots dots{plot};
  for (const auto& line : chart.lines) {
    const Point* before = nullptr;
    for (const auto& point : line.points) {
      const bool is_shown = scale.is_shown(point);
      if (is_shown) {
        const double x = scale.dot_x(point.x), y = scale.dot_y(point.y);
        if (before != nullptr)
          dots.line(scale.dot_x(before->x), scale.dot_y(before->y), x, y, line.color);
        else
          dots.set(static_cast<int>(x), static_cast<int>(y), line.color);
      }
      before = is_shown ? &point : nullptr;
    }
  }
  dots.put_on(frame);
  for (const double x : chart.not_finite) frame.put(scale.column(x), plot.y, U'✗', {.color = Color::red, .bold = true});
  for (const auto& mark : chart.marks) {
    if (scale.is_shown(mark.at))
      frame.put(scale.column(mark.at.x), scale.row(mark.at.y), mark.character, {.color = mark.color, .bold = true});
  }
}

std::vector<Point> smooth(std::vector<Point> points, double factor) {
  if (factor <= 0) return points;
  double sum = 0, weight = 0;
  for (auto& point : points) {
    if (!std::isfinite(point.y)) continue;
    sum = factor * sum + (1 - factor) * point.y;
    weight = factor * weight + (1 - factor);
    point.y = sum / weight;
  }
  return points;
}

}  // namespace burn::train::dashboard
