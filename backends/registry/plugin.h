// Backends that are not linked but found when one of their devices is opened: a program built with them starts on a
// machine that lacks what they need, and says so when they are asked for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/registry/registry.h"

namespace burn::backends {

// What a plug-in exports under the name burn_plugin. It is of the same version as the program that loads it.
struct Plugin {
  const char* version;
  int (*device_count)();  // that can be opened here; 0 where what it needs is missing
  Result<std::unique_ptr<Backend>> (*open)(int index);
  std::vector<std::string> (*report)();  // what it finds on this machine and what it lacks, a fact a line
  // The index of the device that a name tells; null: devices have no names.
  Result<int> (*find)(std::string_view name) = nullptr;
};

// The kinds that may be had from plug-ins: "cuda", "vulkan".
std::span<const std::string_view> plugin_kinds();

// Loads libburn_<kind>.so: from $BURN_PLUGINS, from beside the program or its ../lib, from where Burn is installed, or
// from where the system's linker looks. Errors: NOT_FOUND with where was looked; FAILED_PRECONDITION for one of another
// version.
Result<BackendKind> load_plugin(std::string_view kind);

}  // namespace burn::backends
