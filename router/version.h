// What the router calls itself, on the wire and to a shell.
#pragma once

namespace burn::router {

inline constexpr const char* kServerName = "burn-router " BURN_VERSION;  // BURN_VERSION: see CMakeLists.txt

}  // namespace burn::router
