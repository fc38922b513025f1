#include "train/learner/optimizers.h"

#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "nn/module/visit.h"

namespace burn::train {
namespace {

[[noreturn]] void fail(const std::string& what) { throw Error(StatusCode::invalid_argument, "optimizers: " + what); }

const NamedOptimizer& first_of(const std::vector<NamedOptimizer>& optimizers) {
  if (optimizers.empty()) fail("the list is empty");
  return optimizers.front();
}

}  // namespace

void OptimizerChoice::skip(const std::string& name) {
  const auto found = std::ranges::find(*names_, name);
  if (found == names_->end()) {
    fail(names_->empty() ? fmt::format("skip(\"{}\"): this training has one optimizer, without a name", name)
                         : fmt::format("skip(\"{}\"): there are: {}", name, fmt::join(*names_, ", ")));
  }
  skipped_[static_cast<std::size_t>(found - names_->begin())] = true;
}

Optimizers::Optimizers(const std::vector<NamedOptimizer>& optimizers)
    : optimizer_(first_of(optimizers).optimizer), scheduler_(optimizers.front().schedule) {
  for (const auto& [name, parameters, optimizer, schedule] : optimizers) {
    if (name.empty()) fail("one has an empty name");
    if (std::ranges::find(names_, name) != names_.end()) fail(fmt::format("two are called \"{}\"", name));
    // The first optimizer is the base, but each has a group, and assign() makes sure that every parameter is in one.
    optimizer_.with_group(parameters, optimizer);
    names_.push_back(name);
    groups_.push_back(parameters);
    schedules_.push_back(schedule);
  }
}

void Optimizers::assign(const nn::ModuleWalk& model) {
  if (names_.empty()) return;
  std::vector<bool> has_any(names_.size());
  std::optional<std::string> left_over;  // the first parameter without an optimizer
  nn::for_each_slot_with_paths(model, [&](const std::vector<std::string>& paths, Slot& slot) {
    if (!slot.is_trainable()) return;
    const auto& path = paths.front();
    std::vector<std::size_t> owners;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const auto is_in = [&](const std::string& one) { return groups_[i].matches(slot.id, one); };
      if (std::ranges::any_of(paths, is_in)) owners.push_back(i);
    }
    if (owners.empty()) {
      if (!left_over) left_over = path;
      return;
    }
    if (owners.size() > 1) {
      fail(fmt::format("the parameter \"{}\" belongs to two of them: \"{}\" and \"{}\"", path, names_[owners[0]],
                       names_[owners[1]]));
    }
    owner_[slot.id] = owners.front();
    has_any[owners.front()] = true;
  });
  // Checked first, as a misspelled group also leaves parameters without an optimizer.
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (has_any[i]) continue;
    fail(fmt::format("\"{}\" has no parameter: its group matches none that is trained{}", names_[i],
                     left_over ? fmt::format("; the parameter \"{}\" belongs to no optimizer", *left_over) : ""));
  }
  if (left_over) {
    fail(fmt::format("the parameter \"{}\" belongs to none of: {}. Freeze it with no_grad(), or put it into a group",
                     *left_over, fmt::join(names_, ", ")));
  }
}

lr::ModuleLearningRate Optimizers::rates() {
  if (names_.empty()) return scheduler_.step();
  lr::ModuleLearningRate rates{schedules_.front().next()};
  for (std::size_t i = 0; i < names_.size(); ++i) rates.with_group(groups_[i], schedules_[i].next());
  return rates;
}

void Optimizers::drop_skipped(const OptimizerChoice& choice, optim::GradientsParams& gradients) const {
  for (const auto& [id, owner] : owner_) {
    if (!choice.is_skipped(owner)) continue;
    if (!gradients.remove_sparse(id)) (void)gradients.remove(id);
  }
}

void Optimizers::stepped(const OptimizerChoice& choice) {
  for (std::size_t i = 0; i < schedules_.size(); ++i) {
    if (!choice.is_skipped(i)) (void)schedules_[i].step();
  }
}

double Optimizers::last_rate() const { return names_.empty() ? scheduler_.last() : schedules_.front().last(); }

bool Optimizers::needs_metric() const {
  return scheduler_.needs_metric() ||
         std::ranges::any_of(schedules_, [](const lr::Scheduler& schedule) { return schedule.needs_metric(); });
}

void Optimizers::tell(double metric) {
  scheduler_.tell(metric);
  for (auto& schedule : schedules_) schedule.tell(metric);
}

std::string Optimizers::to_record() const {
  if (names_.empty()) return scheduler_.to_record();
  nn::detail::JsonWriter json;
  json.begin_object();
  for (std::size_t i = 0; i < names_.size(); ++i) {
    json.key(names_[i]);
    json.value(schedules_[i].to_record());
  }
  json.end_object();
  return json.text();
}

void Optimizers::load_record(const std::string& text) {
  if (names_.empty()) return scheduler_.load_record(text);
  const auto json = nn::detail::JsonReader::parse(text, "the record of the learning rates");
  json.only({names_.begin(), names_.end()});
  auto schedules = schedules_;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto found = json.find(names_[i]);
    if (!found) fail(fmt::format("the record of the learning rates has none of \"{}\"", names_[i]));
    schedules[i].load_record(found->string());
  }
  schedules_ = std::move(schedules);
}

}  // namespace burn::train
