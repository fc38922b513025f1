// Why a value was not computed.
#pragma once

#include <memory>

#include "base/status.h"

namespace burn {

// Shared by all values that lack for the same reason, which is compared by its address. Null: none.
using Failure = std::shared_ptr<const Status>;

}  // namespace burn
