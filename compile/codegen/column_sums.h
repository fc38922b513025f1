// The second half of sums over all rows: the lines that a row kernel's blocks have left behind.
#pragma once

#include <span>

#include "compile/codegen/emitter.h"

namespace burn::compile {

// One launch for all of them. `parts`: [lines, columns] each, of the dtype that `sums` [columns in all] are computed
// in. Requires: as many of both, and the same lines and columns.
void sum_lines(Emitter& emit, std::span<const View> parts, std::span<const View> sums);

}  // namespace burn::compile
