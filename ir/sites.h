// Compares the call sites of programs. They are not part of a program's hash: programs that compute the same are equal,
// wherever they were recorded. A cache of objects that name sites, as errors do, must compare with this as well.
#pragma once

#include <cstdint>

#include "ir/program.h"

namespace burn::ir {

std::uint64_t sites_hash(const Program& program);
bool same_sites(const Program& a, const Program& b);

}  // namespace burn::ir
