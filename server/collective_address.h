// The address at which other workers reach this one.
#pragma once

#include <string>

#include "base/status.h"

namespace burn::server {

// Resolves `host` to a numeric address of this machine: for a name with several addresses, the first at which a group
// can meet. Errors: INVALID_ARGUMENT for a name that does not resolve, UNAVAILABLE for one whose addresses are not this
// machine's; both with the name and the reason.
Result<std::string> find_collective_address(const std::string& host);

}  // namespace burn::server
