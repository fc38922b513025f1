// The ways of combining two elements (ir/combine.h), by their short names here.
#pragma once

#include "ir/combine.h"

namespace burn::backends::cpu {

using ir::is_nan, ir::Sum, ir::Prod, ir::Max, ir::Min;

}  // namespace burn::backends::cpu
