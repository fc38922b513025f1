// Transfers tensors from one worker to another without passing through this program.
#pragma once

#include <optional>

#include "client/ops/ops.h"

namespace burn::client {

// The same numbers on another device, sent there by the device that has them. std::nullopt if they should be read and
// uploaded instead: the tensor is small, a device is in this process or behind a router, or the two workers cannot
// reach each other. The first transfer between two devices waits until they are connected; later ones do not wait.
// Requires: untracked, not in a captured step. Errors (thrown): a lost device.
std::optional<Value> move_directly(const Value& value, const Place& to, const Site& site);

}  // namespace burn::client
