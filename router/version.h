// The name and version of the router, on the wire and on the command line.
#pragma once

namespace burn::router {

inline constexpr const char* kServerName = "burn-router " BURN_VERSION;  // BURN_VERSION: see CMakeLists.txt

}  // namespace burn::router
