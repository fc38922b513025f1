// Parameters at several places of a module. A copy of a Param has the id of the original, and within one module all
// places with the same id are one parameter. Part of the walks of nn/module/module.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "nn/module/param.h"

namespace burn::nn::detail {

// The first place of each parameter that a walk has visited. For one walk; holds pointers into the module.
class FirstPlaces {
 public:
  struct Entry {
    ParamId id;
    Slot* slot;
    std::size_t number;
  };

  // Returns the entry of the parameter in `slot`; null if this is its first place (it is added with `number`), or if
  // the slot holds a running statistic, which is never tied.
  const Entry* find_or_add(Slot& slot, std::size_t number = 0) {
    if (slot.role != Slot::Role::parameter) return nullptr;
    if (entries_.empty() ||
        entries_.back().id < slot.id) {  // the usual case: ids rise in the order in which layers are made
      entries_.push_back({slot.id, &slot, number});
      return nullptr;
    }
    const auto at = std::ranges::lower_bound(entries_, slot.id, {}, &Entry::id);
    if (at->id == slot.id) return &*at;
    entries_.insert(at, {slot.id, &slot, number});
    return nullptr;
  }

 private:
  std::vector<Entry> entries_;  // sorted by id
};

// Whether two places of one parameter agree: the same storage on the same device, both frozen or both trained. They may
// be different leaves of the tape.
inline bool agree(const Slot& first, const Slot& later) {
  return first.value.storage() == later.value.storage() && first.value.is_autodiff() == later.value.is_autodiff() &&
         first.wants_grad() == later.wants_grad();
}

}  // namespace burn::nn::detail
