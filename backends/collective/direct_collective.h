// Collectives over links between all members: each sends to each other one what that needs, at once, and combines what
// comes in the order of the ranks. With two to eight members this moves as few bytes as rings do, in fewer rounds.
#pragma once

#include <memory>

#include "backends/collective/collective.h"
#include "backends/collective/links.h"

namespace burn::backends {

// Numbers that are combined go in pieces of this size, so that what comes needs so much memory at most; `small`:
// up to so many bytes, whole values go to all members in one round, instead of parts in two.
struct DirectLimits {
  std::size_t piece = std::size_t{4} << 20;
  std::size_t small = std::size_t{16} << 10;
};

// The limits have to be the same on all members.
std::shared_ptr<Collective> make_direct_collective(std::unique_ptr<Links> links, const DirectLimits& limits = {});

// A group of one member, which waits for nothing.
std::shared_ptr<Collective> make_collective_of_one();

}  // namespace burn::backends
