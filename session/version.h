// The worker's name and version, as sent to clients and printed.
#pragma once

namespace burn::session {

inline constexpr const char* kServerName = "burn-server " BURN_VERSION;  // BURN_VERSION: see CMakeLists.txt

}  // namespace burn::session
