// Ops without operands, and ops that are always lowered as groups.
#include <fmt/format.h>

#include "backends/cuda/lower/lower.h"
#include "compile/codegen/walks.h"

namespace burn::backends::cuda {

namespace lowering {

Status lower(Emitter&, const ir::Constant&, const NodeInPlan&) { return internal_error("a constant is not computed"); }
Status lower(Emitter&, const ir::Scalar&, const NodeInPlan&) { return internal_error("a scalar is not computed"); }
Status lower(Emitter&, const ir::Pointwise&, const NodeInPlan&) { return internal_error("a function is a group"); }
Status lower(Emitter&, const ir::Cast&, const NodeInPlan&) { return internal_error("a cast is a group"); }
Status lower(Emitter&, const ir::Commit&, const NodeInPlan&) { return internal_error("a commit is its program's"); }

Status lower(Emitter& emit, const ir::Iota& op, const NodeInPlan& at) {
  const auto to = emit.result(at.result());
  const auto type = storage_type(op.dtype);
  const KernelSource source{
      fmt::format("#include \"backends/cuda/kernels/types.h\"\nusing namespace burn::cuda;\n"
                  "extern \"C\" __global__ void __launch_bounds__(256) burn_kernel({0}* y, std::int64_t count) {{\n"
                  "  const std::int64_t i = std::int64_t{{blockIdx.x}} * blockDim.x + threadIdx.x;\n"
                  "  if (i < count) y[i] = to_storage<{0}>(burn::ir::convert_number<compute_t<{0}>>(i));\n}}\n",
                  type)};
  emit.launch(source, {.blocks = (op.size + 255) / 256}, {to, op.size});
  return {};
}

// A box whose elements are not consecutive in the whole value.
Status lower(Emitter& emit, const ir::Random& op, const NodeInPlan& at) {
  const auto to = emit.result(at.result());
  const auto elements = to.num_elements();
  if (elements == 0) return {};
  const auto whole = ir::contiguous_strides(op.whole_shape());
  std::int64_t first = 0;
  for (int d = 0; d < op.starts.rank(); ++d) first += op.starts[d] * whole[d];
  const auto walk = compile::merge_dims(op.shape.span(), {std::vector<std::int64_t>(whole.begin(), whole.end())});
  const auto type = storage_type(op.dtype);
  const auto draw = op.fn == ir::RandomFn::bits      ? std::string("bits_at")
                    : op.fn == ir::RandomFn::uniform ? fmt::format("uniform_at<{}>", type)
                                                     : fmt::format("normal_at<{}>", type);
  const KernelSource source{fmt::format(
      "#include \"backends/cuda/kernels/random.h\"\n#include \"backends/cuda/kernels/index.h\"\n#include "
      "\"backends/cuda/kernels/types.h\"\nusing namespace "
      "burn::cuda;\n"
      "extern \"C\" __global__ void __launch_bounds__(256) burn_kernel({0}* y, const std::uint64_t* bindings, "
      "std::int64_t block,\n"
      "    std::int64_t first, std::int64_t count, const Walk<1> walk) {{\n"
      "  const std::int64_t i = std::int64_t{{blockIdx.x}} * blockDim.x + threadIdx.x;\n"
      "  if (i < count) y[i] = {1}(bindings[0], bindings[1] + block, first + offsets(walk, i).at[0]);\n}}\n",
      type, draw)};
  emit.launch(source, {.blocks = (elements + 255) / 256},
              {to, Address{.base = Address::Base::bindings}, op.offset, first, elements, compile::walk_argument(walk)});
  return {};
}

}  // namespace lowering
}  // namespace burn::backends::cuda
