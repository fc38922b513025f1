// What the worker calls itself, on the wire and to a shell.
#pragma once

namespace burn::session {

inline constexpr const char* kServerName = "burn-server " BURN_VERSION;  // BURN_VERSION: see CMakeLists.txt

}  // namespace burn::session
