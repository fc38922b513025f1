// Small all-reduces that share messages: one round for all of them instead of one for each.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "backends/collective/collective.h"
#include "base/status.h"

namespace burn::backends {

// Implements Collective::perform_together() by perform(). Consecutive calls of up to a sixteenth of `piece` bytes are
// copied one after the other into `memory`, up to `piece` bytes, and performed as one; larger ones are performed alone.
// If a member lacks an operand, packed calls are performed one by one after all, on all members, so that each call
// fails or succeeds by itself.
std::vector<Status> perform_packed(Collective& member, std::span<const CollectiveCall> calls, std::size_t piece,
                                   std::vector<std::byte>& memory);

}  // namespace burn::backends
