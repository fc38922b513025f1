#include "backends/gpu/outcome.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace burn::backends {
namespace {

bool is_settled(const Outcome::Entry& entry) { return entry.report->is_known() && !entry.report->failure(entry.check); }

bool is_before(const Outcome::Entry& a, const Outcome::Entry& b) {
  return std::pair(a.report->number(), a.check) < std::pair(b.report->number(), b.check);
}

}  // namespace

OutcomePropagation::OutcomePropagation(std::span<const Outcome* const> inputs, std::shared_ptr<const Report> report)
    : report_(std::move(report)), which_(inputs.size(), -1) {
  std::vector<std::pair<const Outcome*, std::ptrdiff_t>> seen;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    const auto found = std::ranges::find(seen, inputs[i], [](const auto& of) { return of.first; });
    if (found != seen.end()) {
      which_[i] = found->second;
      continue;
    }
    Entries open;
    std::ranges::remove_copy_if(inputs[i]->entries(), std::back_inserter(open), is_settled);
    if (!open.empty()) {
      which_[i] = static_cast<std::ptrdiff_t>(sources_.size());
      sources_.push_back(std::move(open));
    }
    seen.emplace_back(inputs[i], which_[i]);
  }
}

OutcomePropagation::OutcomePtr OutcomePropagation::of(const std::vector<bool>& inputs,
                                                      const std::vector<bool>& checks) {
  std::vector<bool> sources(sources_.size());
  for (std::size_t i = 0; i < which_.size() && !sources.empty(); ++i) {
    if (which_[i] >= 0 && inputs[i]) sources[static_cast<std::size_t>(which_[i])] = true;
  }
  const auto found = std::ranges::find_if(
      known_, [&](const Known& known) { return known.sources == sources && known.checks == checks; });
  if (found != known_.end()) return found->outcome;
  auto entries = entries_of(sources, checks);
  auto outcome = entries.empty() ? nullptr : std::make_shared<const Outcome>(std::move(entries));
  known_.push_back({std::move(sources), checks, outcome});
  return outcome;
}

OutcomePropagation::Entries OutcomePropagation::entries_of(const std::vector<bool>& sources,
                                                           const std::vector<bool>& checks) const {
  Entries entries;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    if (!sources[s]) continue;
    Entries both;
    std::ranges::set_union(entries, sources_[s], std::back_inserter(both), is_before);
    entries = std::move(both);
  }
  for (std::size_t c = 0; report_ && c < checks.size(); ++c) {
    if (checks[c]) entries.push_back({report_, c});  // the latest run
  }
  return entries;
}

}  // namespace burn::backends
