#include "client/tensor/print.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <mutex>
#include <ostream>

namespace burn {
namespace {

std::mutex options_mutex;
PrintOptions global_options;

// The indices of an axis that are shown: all, or `edge` at either end.
struct Axis {
  std::int64_t size = 0, edge = 0;
  bool shortened() const { return edge > 0 && size > 2 * edge; }

  template <typename Visit, typename Skip>
  void walk(Visit&& visit, Skip&& skip) const {
    for (std::int64_t i = 0; i < size; ++i) {
      if (shortened() && i == edge) {
        skip();
        i = size - edge;
      }
      visit(i);
    }
  }
};

using Axes = std::vector<Axis>;

Axes axes_of(const TensorData& data, const PrintOptions& options) {
  const bool shorten = static_cast<std::int64_t>(data.num_elements()) > options.threshold;
  Axes axes;
  for (const auto size : data.shape())
    axes.push_back({size, shorten ? std::max<std::int64_t>(options.edge_items, 1) : 0});
  return axes;
}

// The flat indices of the elements shown, in order.
void collect(const Axes& axes, std::size_t depth, std::int64_t index, std::vector<std::size_t>& shown) {
  if (depth == axes.size()) {
    shown.push_back(static_cast<std::size_t>(index));
    return;
  }
  axes[depth].walk([&](std::int64_t i) { collect(axes, depth + 1, index * axes[depth].size + i, shown); }, [] {});
}

std::string formatted(const char* format, int precision, double value) {
  const int length = std::snprintf(nullptr, 0, format, precision, value);
  std::string text(static_cast<std::size_t>(length), '\0');
  std::snprintf(text.data(), text.size() + 1, format, precision, value);
  return text;
}

// numpy's rule: one notation for all, chosen by the range of their magnitudes.
bool wants_exponents(const std::vector<double>& values) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const double value : values) {
    const double size = std::abs(value);
    if (!std::isfinite(size) || size == 0) continue;
    least = std::min(least, size);
    most = std::max(most, size);
  }
  return most > 0 && (most >= 1e8 || least < 1e-4 || most / least > 1000);
}

std::string special(double value) { return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf"; }

// The number of digits after the point of text[0, end), without trailing zeros.
int digits_needed(const std::string& text, std::size_t end) {
  const auto point = text.find('.');
  if (point == std::string::npos) return 0;
  const auto last = text.find_last_not_of('0', end - 1);
  return static_cast<int>(last - point);
}

std::vector<std::string> float_texts(const std::vector<double>& values, int precision) {
  const bool exponents = wants_exponents(values);
  const char* format = exponents ? "%.*e" : "%#.*f";
  int needed = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    const auto text = formatted(format, precision, value);
    needed = std::max(needed, digits_needed(text, std::min(text.find('e'), text.size())));
  }
  std::vector<std::string> texts;
  for (const double value : values) {
    if (!std::isfinite(value)) {
      texts.push_back(special(value));
      continue;
    }
    auto text = formatted(format, needed, value);
    if (!exponents) {  // blanks for trailing zeros, as columns of decimals read best
      const auto last = text.find_last_not_of('0');
      std::fill(text.begin() + static_cast<std::ptrdiff_t>(last) + 1, text.end(), ' ');
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

std::vector<std::string> texts_of(const TensorData& data, const std::vector<std::size_t>& shown, int precision) {
  return ir::dispatch(data.dtype(), [&]<typename T>() {
    const auto all = data.as_slice<T>();
    std::vector<std::string> texts;
    if constexpr (std::floating_point<ir::compute_t<T>>) {
      std::vector<double> values;
      values.reserve(shown.size());
      for (const auto i : shown) values.push_back(static_cast<double>(static_cast<ir::compute_t<T>>(all[i])));
      texts = float_texts(values, precision);
    } else if constexpr (std::same_as<T, bool>) {
      for (const auto i : shown) texts.push_back(all[i] ? "true" : "false");
    } else {
      for (const auto i : shown) texts.push_back(std::to_string(all[i]));
    }
    return texts;
  });
}

// Lays the texts of the elements out in brackets.
class Layout {
 public:
  Layout(const Axes& axes, const std::vector<std::string>& texts, int line_width)
      : axes_(axes), next_(texts.begin()), line_width_(static_cast<std::size_t>(std::max(line_width, 1))) {
    for (const auto& text : texts) width_ = std::max(width_, text.size());
  }

  std::string print() && {
    nest(0);
    return std::move(out_);
  }

 private:
  void nest(std::size_t depth) {
    if (depth == axes_.size()) return item(depth, *next_++);
    out_ += '[';
    const bool innermost = depth + 1 == axes_.size();
    const std::size_t breaks = axes_.size() - depth - 1;  // a blank line between matrices, two between stacks of them
    bool first = true;
    const auto separate = [&] {
      if (!first) out_ += innermost ? ", " : "," + std::string(breaks, '\n') + std::string(depth + 1, ' ');
      first = false;
    };
    const auto visit = [&](std::int64_t) {
      separate();
      nest(depth + 1);
    };
    const auto skip = [&] {
      separate();
      if (innermost)
        item(depth + 1, "...", 3);
      else
        out_ += "...";
    };
    axes_[depth].walk(visit, skip);
    out_ += ']';
  }

  void item(std::size_t depth, const std::string& text) { item(depth, text, axes_.empty() ? 0 : width_); }

  // Right-aligned; on a new line when this one is full.
  void item(std::size_t depth, const std::string& text, std::size_t width) {
    const auto line_start = out_.rfind('\n') + 1;  // npos + 1 is 0
    const bool first_of_line = out_.empty() || out_.back() == '[';
    if (!first_of_line && out_.size() - line_start + width + 1 > line_width_) {
      if (out_.back() == ' ') out_.pop_back();
      out_ += '\n' + std::string(depth, ' ');
    }
    if (text.size() < width) out_.append(width - text.size(), ' ');
    out_ += text;
  }

  const Axes& axes_;
  std::vector<std::string>::const_iterator next_;
  std::size_t line_width_;
  std::size_t width_ = 0;
  std::string out_;
};

}  // namespace

void set_print_options(const PrintOptions& options) {
  const std::lock_guard lock(options_mutex);
  global_options = options;
}

PrintOptions print_options() {
  const std::lock_guard lock(options_mutex);
  return global_options;
}

std::string to_string(const TensorData& data) { return to_string(data, print_options()); }

std::string to_string(const TensorData& data, const PrintOptions& options) {
  if (data.num_elements() == 0) return "[]";
  const Axes axes = axes_of(data, options);
  std::vector<std::size_t> shown;
  collect(axes, 0, 0, shown);
  return Layout(axes, texts_of(data, shown, std::max(options.precision, 0)), options.line_width).print();
}

std::ostream& operator<<(std::ostream& out, const TensorData& data) { return out << to_string(data); }

}  // namespace burn
