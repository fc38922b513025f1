// Why a value was not computed.
#pragma once

#include <memory>

#include "base/status.h"

namespace burn {

// Shared by all values that were not computed for the same reason; compared by address. Null: no failure.
using Failure = std::shared_ptr<const Status>;

}  // namespace burn
