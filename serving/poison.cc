#include "serving/poison.h"

#include <iterator>

namespace burn::serving {

PoisonedTensors::Ranges::const_iterator PoisonedTensors::range_of(proto::TensorId id) const {
  const auto after = ranges_.upper_bound(id);
  if (after == ranges_.begin()) return ranges_.end();
  const auto found = std::prev(after);
  return id - found->first < found->second.count ? found : ranges_.end();
}

void PoisonedTensors::add(proto::TensorId first, std::uint64_t count, const Failure& why) {
  if (count == 0) return;
  const auto after = ranges_.lower_bound(first);
  if (after != ranges_.begin()) {
    auto& [begin, before] = *std::prev(after);
    if (begin + before.count == first && before.why == why) {
      before.count += count;
      return;
    }
  }
  ranges_.emplace_hint(after, first, Range{count, why});
}

const Failure* PoisonedTensors::find(proto::TensorId id) const {
  if (ranges_.empty()) return nullptr;
  const auto found = range_of(id);
  return found == ranges_.end() ? nullptr : &found->second.why;
}

bool PoisonedTensors::overlaps(proto::TensorId first, std::uint64_t count) const {
  if (ranges_.empty() || count == 0) return false;
  if (range_of(first) != ranges_.end()) return true;
  const auto next = ranges_.upper_bound(first);
  return next != ranges_.end() && next->first - first < count;
}

bool PoisonedTensors::remove(proto::TensorId id) {
  if (ranges_.empty()) return false;
  const auto found = range_of(id);
  if (found == ranges_.end()) return false;
  const auto [first, range] = *found;
  ranges_.erase(found);
  const auto before = id - first, behind = range.count - before - 1;
  if (before > 0) ranges_.emplace(first, Range{before, range.why});
  if (behind > 0) ranges_.emplace(id + 1, Range{behind, range.why});
  return true;
}

}  // namespace burn::serving
