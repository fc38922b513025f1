// Small all-reduces that share messages: a round for all of them instead of one for each.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "backends/collective/collective.h"
#include "base/status.h"

namespace burn::backends {

// Collective::perform_together() by perform(). Calls of up to a sixteenth of `piece` bytes that follow each other are
// put behind each other into `memory`, up to `piece` bytes, and performed as one; larger ones are performed as they
// are. Where a member lacks an operand, those that were put together are performed one by one after all, on all
// members, so that each fails or not for itself.
std::vector<Status> perform_packed(Collective& member, std::span<const CollectiveCall> calls, std::size_t piece,
                                   std::vector<std::byte>& memory);

}  // namespace burn::backends
