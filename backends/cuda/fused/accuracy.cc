#include "backends/cuda/fused/accuracy.h"

#include <algorithm>

namespace burn::backends::cuda {
namespace {

bool is_short(ir::DType dtype) { return dtype == ir::DType::f16 || dtype == ir::DType::bf16; }

}  // namespace

std::set<std::int32_t> coarse_members(const GroupPlan& plan, const std::set<std::int32_t>& members,
                                      std::span<const ir::Ref> seen) {
  const auto& program = plan.program();
  std::set<std::int32_t> exact, coarse;
  const auto see = [&](ir::Ref ref) {
    if (!ref.is_input()) exact.insert(program.node_of(ref));
  };
  std::ranges::for_each(seen, see);
  for (auto n = members.rbegin(); n != members.rend(); ++n) {  // readers before what they read
    const auto& node = program.nodes[static_cast<std::size_t>(*n)];
    const auto dtype = program.type_of(node).dtype;
    if (is_short(dtype) || (dtype == ir::DType::f32 && !exact.contains(*n)))
      coarse.insert(*n);
    else
      std::ranges::for_each(program.operands_of(node), see);
  }
  return coarse;
}

const char* coarse_function(ir::PointwiseFn fn) {
  using enum ir::PointwiseFn;
  switch (fn) {
    case exp:
      return "exp";
    case tanh:
      return "tanh";
    case sigmoid:
      return "sigmoid";
    case div:
      return "div";
    case recip:
      return "recip";
    case rsqrt:
      return "rsqrt";
    case sqrt:
      return "sqrt";
    default:
      return nullptr;
  }
}

}  // namespace burn::backends::cuda
