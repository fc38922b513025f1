// The ways of combining two elements (ir/semantics/combine.h), by their short names here.
#pragma once

#include "ir/semantics/combine.h"

namespace burn::backends::cpu {

using ir::is_nan, ir::Sum, ir::Prod, ir::Max, ir::Min;

}  // namespace burn::backends::cpu
