// Parameters that stand at several places of a module. A copy of a Param has the id of the original, and within one
// module all places of an id are one parameter. Part of the walks of nn/module/module.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "nn/module/param.h"

namespace burn::nn::detail {

// The places of parameters that a walk has met. For one walk; it keeps pointers into the module.
class FirstPlaces {
 public:
  struct Entry {
    ParamId id;
    Slot* slot;
    std::size_t number;
  };

  // The first place of the parameter in `slot`, as it was added; null if that is this one (it is added under `number`),
  // or if the slot holds a running statistic, of which every place has its own.
  const Entry* find_or_add(Slot& slot, std::size_t number = 0) {
    if (slot.role != Slot::Role::parameter) return nullptr;
    if (entries_.empty() ||
        entries_.back().id < slot.id) {  // as a rule: ids rise in the order in which layers are made
      entries_.push_back({slot.id, &slot, number});
      return nullptr;
    }
    const auto at = std::ranges::lower_bound(entries_, slot.id, {}, &Entry::id);
    if (at->id == slot.id) return &*at;
    entries_.insert(at, {slot.id, &slot, number});
    return nullptr;
  }

 private:
  std::vector<Entry> entries_;  // by id
};

// Whether two places of one parameter agree: the same numbers on the same device, both frozen or both trained. They may
// be different leaves of the tape.
inline bool agree(const Slot& first, const Slot& later) {
  return first.value.storage() == later.value.storage() && first.value.is_autodiff() == later.value.is_autodiff() &&
         first.wants_grad() == later.wants_grad();
}

}  // namespace burn::nn::detail
