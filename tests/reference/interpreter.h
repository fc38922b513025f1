// Runs programs in the simplest way: one loop over indices per op, in double or 64-bit integers. Backends are compared
// with it; it shares formulas with them (pointwise.def, philox.h) but no loop, layout or optimization.
#pragma once

#include <span>
#include <type_traits>
#include <vector>

#include "ir/program.h"
#include "tests/reference/tensor.h"

namespace burn::reference {

struct Bindings {
  std::vector<std::uint64_t> scalars;
  std::uint64_t seed = 0;
  std::uint64_t random_offset = 0;
};

using Operands = std::span<const Tensor* const>;

// The outputs, in order. Throws std::out_of_range for an index outside its dim.
std::vector<Tensor> evaluate(const ir::Program& program, std::span<const Tensor> inputs, const Bindings& bindings = {});

// The results of one op; `type` is the type of the first result.
std::vector<Tensor> evaluate(const ir::Op& op, const ir::TensorType& type, Operands in, const Bindings& bindings);

// One function per op, which returns its result or, if it has several, a list of them; `type` is the type of the first
// result. Qualify the call.
namespace rules {
template <typename Kind>
using Evaluated = std::conditional_t<ir::result_count<Kind>() == 1, Tensor, std::vector<Tensor>>;

#define OP(type) \
  Evaluated<ir::type> evaluate(const ir::type& op, const ir::TensorType& type, Operands in, const Bindings& bindings);
BURN_OPS(OP)
#undef OP
}  // namespace rules

}  // namespace burn::reference
