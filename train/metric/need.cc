#include "train/metric/need.h"

#include <algorithm>

#include "base/error.h"

namespace burn::metric {
namespace {

std::string text_of(const Need& need) {
  auto text = "\"" + need.name + "\"";
  if (need.kind == NeededKind::floating) text += " of floats";
  if (need.kind == NeededKind::integer) text += " of integers";
  if (need.kind == NeededKind::integer_or_bool) text += " of integers or bools";
  for (std::size_t i = 0; i < need.ranks.size(); ++i) {
    text += (i == 0 ? " of rank " : " or ") + std::to_string(need.ranks[i]);
  }
  return text;
}

bool is_kind(NeededKind kind, ir::DType dtype) {
  switch (kind) {
    case NeededKind::any:
      return true;
    case NeededKind::floating:
      return ir::is_floating(dtype);
    case NeededKind::integer:
      return ir::is_integer(dtype);
    case NeededKind::integer_or_bool:
      return ir::is_integer(dtype) || ir::is_bool(dtype);
  }
  return false;
}

}  // namespace

void throw_missing(const std::string& needed, const StepOutput& output) {
  std::string given;
  const auto add = [&](const std::string& name, const client::Value& value) {
    if (value.has_value()) given += (given.empty() ? "" : ", ") + name + " " + ir::to_string(value.type());
  };
  add("loss", output.loss);
  add("output", output.output);
  add("targets", output.targets);
  for (const auto& [name, value] : output.others) add(name, value);
  throw Error(StatusCode::invalid_argument,
              "needs " + needed + "; the step gives " + (given.empty() ? "no tensor" : given));
}

const client::Value& get(const StepOutput& output, const Need& need) {
  const auto* value = output.find(need.name);
  const bool fits = value != nullptr && is_kind(need.kind, value->dtype()) &&
                    (need.ranks.empty() || std::ranges::find(need.ranks, value->rank()) != need.ranks.end());
  if (!fits) throw_missing(text_of(need), output);
  return *value;
}

}  // namespace burn::metric

namespace burn::train {

const client::Value* StepOutput::find(std::string_view name) const {
  const auto given = [](const client::Value& value) { return value.has_value() ? &value : nullptr; };
  if (name == "loss") return given(loss);
  if (name == "output") return given(output);
  if (name == "targets") return given(targets);
  for (const auto& [other, value] : others) {
    if (other == name) return given(value);
  }
  return nullptr;
}

StepOutput StepOutput::inner() const {
  const auto off = [](const client::Value& value) { return value.has_value() ? value.inner() : value; };
  StepOutput result{off(loss), off(output), off(targets), items};
  for (const auto& [name, value] : others) result.others.emplace_back(name, off(value));
  return result;
}

const client::Value& StepOutput::at(std::string_view name) const {
  return metric::get(*this, {.name = std::string{name}});
}

}  // namespace burn::train
