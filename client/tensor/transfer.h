// Tensors that go from one worker to another without passing through this program.
#pragma once

#include <optional>

#include "client/ops/ops.h"

namespace burn::client {

// The same numbers on another device, sent there by the device that has them. Nothing where they are to be read and
// uploaded instead: the tensor is small, a device is in this process or behind a router, or the two workers do not
// reach each other. The first time between two devices waits until they are connected; what is moved later does not
// wait. Requires: untracked, not in a captured step. Errors (thrown): a device that is lost.
std::optional<Value> move_directly(const Value& value, const Place& to, const Site& site);

}  // namespace burn::client
