// How much more memory this process can get from the system. Stateless; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace burn {

// In bytes: the minimum of the machine's available memory and of what each cgroup around the process (v1, v2, nested)
// has left of its limit; inactive page cache counts as free. std::nullopt if the system does not report it. `root` is
// prepended to the paths of system files, for tests.
std::optional<std::uint64_t> free_memory(const std::string& root = "");

}  // namespace burn
