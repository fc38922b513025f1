// Which of a program's commands have to wait for which, by the memory that they use: all that their order in the
// program means. What does not have to wait may run at the same time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace burn::compile {

// Bytes from `begin` to before `end` that a command reads, or writes (and may read).
struct MemoryUse {
  std::uint64_t begin = 0, end = 0;
  bool is_written = false;
};

// Per command: those that it waits for, without those that these wait for anyway; the latest first.
using Predecessors = std::vector<std::vector<std::int32_t>>;

// A command waits for those before it that wrote what it uses, and for those that used what it writes. Bytes count and
// not values, as several values lie in the same bytes, one after the other. Of n commands that use memory of m pieces:
// O(n m + n^2) at worst, and n^2 / 8 bytes.
Predecessors order_commands(std::span<const std::vector<MemoryUse>> uses);

// The time until the last command is done where each begins as soon as it may: the sum of the costs on the longest way.
double critical_path(const Predecessors& predecessors, std::span<const double> costs);

}  // namespace burn::compile
