#include "compile/partition/exact.h"

#include <type_traits>

namespace burn::compile::partition {
namespace {

template <typename Kind, typename... Kinds>
constexpr bool is_one_of = (std::is_same_v<Kind, Kinds> || ...);

bool chooses(ir::ReduceFn fn) { return fn == ir::ReduceFn::max || fn == ir::ReduceFn::min; }

}  // namespace

bool is_exact(const ir::Op& op, const ir::TensorType& first_result) {
  const bool is_float = ir::is_floating(first_result.dtype);
  return std::visit(
      [&]<typename Kind>(const Kind& kind) {
        if constexpr (is_one_of<Kind, ir::Constant, ir::Scalar, ir::Iota, ir::Random, ir::Pointwise, ir::Cast,
                                ir::ArgReduce, ir::Sort, ir::TopK, ir::Reshape, ir::Permute, ir::Expand, ir::Slice,
                                ir::SliceAssign, ir::Concat, ir::Gather, ir::MaxPool, ir::AdaptiveMaxPool, ir::Commit,
                                ir::Place>)
          return true;
        else if constexpr (is_one_of<Kind, ir::Reduce, ir::Scan>)
          return !is_float || chooses(kind.fn);
        else if constexpr (std::is_same_v<Kind, ir::Scatter>)
          return !is_float || (kind.fn != ir::ScatterFn::add && kind.fn != ir::ScatterFn::mul);
        else if constexpr (std::is_same_v<Kind, ir::MatMul>)
          return !is_float;
        else
          return false;
      },
      op);
}

}  // namespace burn::compile::partition
