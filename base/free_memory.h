// How much memory the system could still give to this process. Stateless; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace burn {

// Bytes: the least of what the machine has available and what each control group around the process (v1, v2, nested)
// has left of its limit, where pages of files that can be dropped count as free. Nothing where the system does not say.
// `root` is where the files of the system lie: another place in tests.
std::optional<std::uint64_t> free_memory(const std::string& root = "");

}  // namespace burn
