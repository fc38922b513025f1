#include "train/optim/step_numbers.h"

#include <algorithm>
#include <bit>

#include "client/ops/formula.h"
#include "client/record/device_state.h"

namespace burn::optim::detail {

std::span<const client::Value> StepNumbers::get(const TensorOptimizer& rule, Scalar lr, ParamId id,
                                                const client::Value& like, std::int64_t step) {
  const auto same = [&](const Entry& entry) {
    return entry.device == like.device().get() && entry.dtype == like.dtype() && entry.step == step &&
           entry.rule == &rule && entry.lr == std::bit_cast<std::uint64_t>(lr.as_double()) &&
           entry.lr_source == lr.source();
  };
  auto found = std::find_if(entries_.begin(), entries_.end(), same);
  if (found == entries_.end()) found = entries_.insert(entries_.end(), make(rule, lr, id, like, step));
  return found->values;
}

void StepNumbers::flush() const {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const auto is_same = [&](const Entry& earlier) { return earlier.device == entries_[i].device; };
    if (std::none_of(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(i), is_same)) {
      entries_[i].device->flush();
    }
  }
}

void StepNumbers::drop_values() {
  for (auto& entry : entries_) entry.values.clear();
}

StepNumbers::Entry StepNumbers::make(const TensorOptimizer& rule, Scalar lr, ParamId id, const client::Value& like,
                                     std::int64_t step) const {
  Entry entry{
      like.device().get(), like.dtype(), step, &rule, std::bit_cast<std::uint64_t>(lr.as_double()), lr.source(), {}};
  const client::Place place{like.device()};
  const auto numbers = rule.numbers(lr.as_double(), step);
  if (auto* capture = client::CaptureLog::active()) capture->follow(host_, id, lr, like.dtype(), numbers.size());
  for (const double number : numbers) {
    entry.values.push_back(client::scalar(place, number, like.dtype()));
  }
  return entry;
}

}  // namespace burn::optim::detail
