#include "train/metric/confusion_matrix.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "client/ops/formula.h"

namespace burn::metric {
namespace {

std::string percent(double part, double whole) {
  return whole == 0 ? std::string{"-"} : fmt::format("{:.1f} %", 100 * part / whole);
}

}  // namespace

ConfusionMatrix ConfusionMatrix::with_classes(std::vector<std::string> names) const {
  auto result = *this;
  result.names_ = std::move(names);
  return result;
}

Measured ConfusionMatrix::record(const StepOutput& output) const {
  const auto& site = client::current_site();
  const auto [scores, labels] = labelled_scores(output, Task::multiclass);
  const auto rows = scores.dim(0), classes = scores.dim(1);
  const auto actual = client::arg_reduce(ir::ArgFn::max, client::cast(labels, DType::f32, site), 1, site);
  const auto answered = client::arg_reduce(ir::ArgFn::max, scores, 1, site);
  const auto places =
      client::cast(actual, DType::i64, site) * static_cast<double>(classes) + client::cast(answered, DType::i64, site);
  const auto ones = client::filled(client::place_of(scores), {rows}, 1, DType::f32, site);
  return Measured{{histogram(client::reshape(places, {rows}, site), ones, classes * classes)}};
}

void ConfusionMatrix::load_state(std::span<const double> state) {
  const auto side = static_cast<std::size_t>(std::llround(std::sqrt(static_cast<double>(state.size()))));
  check_state(*this, state, side * side);
  CountedMetric::load_state(state);
}

std::int64_t ConfusionMatrix::classes() const { return std::llround(std::sqrt(static_cast<double>(counts().size()))); }

std::int64_t ConfusionMatrix::count(std::int64_t actual, std::int64_t answered) const {
  return std::llround(counts().at(static_cast<std::size_t>(actual * classes() + answered)));
}

std::string ConfusionMatrix::text() const {
  const auto size = classes();
  if (size == 0) return "no items";
  const auto name_of = [&](std::int64_t c) {
    const auto i = static_cast<std::size_t>(c);
    return i < names_.size() ? names_[i] : std::to_string(c);
  };
  std::vector<std::vector<std::string>> table(1, {"actual \\ answered"});
  std::vector<double> answered(static_cast<std::size_t>(size), 0.0);
  for (std::int64_t c = 0; c < size; ++c) table[0].push_back(name_of(c));
  table[0].emplace_back("recall");
  for (std::int64_t a = 0; a < size; ++a) {
    auto& row = table.emplace_back(1, name_of(a));
    double actual = 0;
    for (std::int64_t b = 0; b < size; ++b) {
      row.push_back(std::to_string(count(a, b)));
      actual += static_cast<double>(count(a, b));
      answered[static_cast<std::size_t>(b)] += static_cast<double>(count(a, b));
    }
    row.push_back(percent(static_cast<double>(count(a, a)), actual));
  }
  auto& last = table.emplace_back(1, "precision");
  for (std::int64_t c = 0; c < size; ++c)
    last.push_back(percent(static_cast<double>(count(c, c)), answered[static_cast<std::size_t>(c)]));
  std::vector<std::size_t> widths(table[0].size(), 0);
  for (const auto& row : table) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : table) {
    std::string line = fmt::format("{:<{}}", row[0], widths[0]);
    for (std::size_t i = 1; i < row.size(); ++i) line += fmt::format("  {:>{}}", row[i], widths[i]);
    text += (text.empty() ? "" : "\n") + line;
  }
  return text;
}

}  // namespace burn::metric
