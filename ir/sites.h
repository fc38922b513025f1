// Where a program's nodes were written, compared. Sites are no part of a program's hash: two that do the same are the
// same program, wherever they come from. A cache of things that name sites, as errors do, compares with this as well.
#pragma once

#include <cstdint>

#include "ir/program.h"

namespace burn::ir {

std::uint64_t sites_hash(const Program& program);
bool same_sites(const Program& a, const Program& b);

}  // namespace burn::ir
