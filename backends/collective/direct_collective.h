// Collectives over links between all members: each member sends every other one the data that it needs directly, and
// combines what it receives in the order of the ranks. With two to eight members this moves as few bytes as rings do,
// in fewer rounds.
#pragma once

#include <memory>

#include "backends/collective/collective.h"
#include "backends/collective/links.h"

namespace burn::backends {

// Numbers that are combined are sent in pieces of `piece` bytes, which bounds the memory for received data. Up to
// `small` bytes, whole values go to all members in one round, instead of parts in two.
struct DirectLimits {
  std::size_t piece = std::size_t{4} << 20;
  std::size_t small = std::size_t{16} << 10;
};

// The limits must be the same on all members.
std::shared_ptr<Collective> make_direct_collective(std::unique_ptr<Links> links, const DirectLimits& limits = {});

// A group of one member, which never waits.
std::shared_ptr<Collective> make_collective_of_one();

}  // namespace burn::backends
