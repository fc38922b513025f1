#include "compile/codegen/kernels/kernel_target.h"

#include <fmt/format.h>

#include "base/error.h"
#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernels/arguments.h"
#include "compile/codegen/kernels/group.h"
#include "compile/codegen/kernels/lower.h"
#include "compile/codegen/kernels/product.h"

namespace burn::compile::kernels {
namespace {

using kernel::Value;

template <typename Op>
constexpr bool has_own_kernels() {
  bool has = false;
#define OP(type) has = has || std::is_same_v<Op, ir::type>;
  BURN_KERNEL_OPS(OP)
#undef OP
  return has;
}

template <typename Op>
constexpr bool is_in_groups() {
  return std::is_same_v<Op, ir::Pointwise> || std::is_same_v<Op, ir::Cast> || std::is_same_v<Op, ir::Constant> ||
         std::is_same_v<Op, ir::Scalar>;
}

template <typename Op>
constexpr bool is_view() {
  return std::is_same_v<Op, ir::Permute> || std::is_same_v<Op, ir::Expand> || std::is_same_v<Op, ir::Slice> ||
         std::is_same_v<Op, ir::Place>;
}

}  // namespace

bool has_kernels(const ir::Op& op, std::span<const ir::TensorType* const> operands, const DeviceFacts& facts) {
  return std::visit(
      [&]<typename Op>(const Op&) {
        if constexpr (std::is_same_v<Op, ir::Attention> || std::is_same_v<Op, ir::AttentionGrad>)
          return has_attention(facts, operands, std::is_same_v<Op, ir::AttentionGrad>);
        return has_own_kernels<Op>() || is_in_groups<Op>() || is_view<Op>() || std::is_same_v<Op, ir::Commit>;
      },
      op);
}

Status KernelTarget::lower_group(Emitter& emit, const ir::Program& program, const Group& group,
                                 std::span<const ir::Ref> results) {
  return emit_group(emit, program, group, results);
}

Status KernelTarget::lower(Emitter& emit, const NodeInPlan& at) {
  return std::visit(
      [&]<typename Op>(const Op& op) -> Status {
        if constexpr (has_own_kernels<Op>())
          return kernels::lower(emit, op, at);
        else
          return unimplemented(fmt::format("{} has no kernel for such a device", Op::kName));
      },
      at.node.op);
}

Status KernelTarget::lower_product(Emitter& emit, const ir::Program& program, const Plan& plan,
                                   const ProductWithEpilogue& product, std::span<const ir::Ref> results) {
  BURN_CHECK(product.kind == ProductWithEpilogue::Kind::group, "a product with an epilogue of a library");
  const NodeInPlan at{program, program.nodes[static_cast<std::size_t>(product.product)]};
  const GroupPlan group(emit, program, plan.groups[static_cast<std::size_t>(product.group)], results, product.other);
  return emit_product(emit, emit.read(at.operand(0)), emit.read(at.operand(1)), emit.type_of(at.result()), group);
}

// A thread that looks at every report.
void KernelTarget::lower_commit(Emitter& emit, const Address& before, std::span<const Address> reports,
                                const Address& to) {
  kernel::Writer writer(1);
  Arguments arguments(writer, ir::DType::i64);
  const auto from = arguments.address(ir::DType::bool_, before), into = arguments.address(ir::DType::bool_, to);
  Value is_there = writer.load(from, arguments.constant(0));
  for (const auto& report : reports)
    is_there = is_there && writer.load(arguments.address(ir::DType::i64, report), arguments.constant(1)) == 0;
  writer.when(arguments.position() < 1, [&] { writer.store(into, arguments.constant(0), is_there); });
  arguments.launch(emit, 1);
}

void KernelTarget::fill_constant(Emitter& emit, const ir::Constant& constant, const Address& to) {
  const auto type = ir::compute_dtype(constant.dtype);
  kernel::Writer writer(1);
  std::vector<Argument> arguments{to};
  const auto into = writer.address(constant.dtype);
  const Value value = writer.number(type);
  if (type == ir::DType::f32)
    arguments.emplace_back(static_cast<float>(constant.real));
  else
    arguments.push_back(type == ir::DType::f64 ? Argument(constant.real) : Argument(constant.number));
  writer.when(writer.position() < 1, [&] { writer.store(into, writer.index(0), value); });
  launch(emit, writer, {.blocks = 1}, std::move(arguments));
}

void KernelTarget::copy(Emitter& emit, const View& from, const View& to) { emit_copy(emit, from, to); }

Status lower(Emitter& emit, const ir::MatMul&, const NodeInPlan& at) {
  return emit_product(emit, emit.read(at.operand(0)), emit.read(at.operand(1)), emit.result(at.result()));
}

}  // namespace burn::compile::kernels
