#include "backends/cuda/lower/nccl_numbers.h"

#include <fmt/format.h>

namespace burn::backends::cuda {
namespace {

NcclNumbers ordered(ir::ReduceFn fn, ir::DType dtype) {
  const auto* const storage = storage_type(dtype);
  const bool is_double = dtype == ir::DType::f64, is_max = fn == ir::ReduceFn::max;
  return {is_double ? NcclType::i64 : NcclType::i32, is_double ? 8u : 4u, is_double ? "long long" : "int",
          fmt::format("to_order<{}>(to_compute<{}>(x))", is_max, storage),
          fmt::format("to_storage<{}>(from_order<{}>(x))", storage, is_max)};
}

NcclNumbers widened(NcclType type, const char* wide, ir::DType dtype) {
  return {type, 4, wide, fmt::format("widened<{}, {}>(x)", wide, storage_type(dtype)),
          fmt::format("narrowed<{}, {}>(x)", storage_type(dtype), wide)};
}

// Converts `count` contiguous numbers at `from` by the expression.
void convert(Emitter& emit, const std::string& from_type, const std::string& to_type, const std::string& expression,
             const Address& from, const Address& to, std::int64_t count) {
  constexpr int kThreads = 256;
  const KernelSource source{fmt::format(
      "#include \"backends/cuda/kernels/collective.h\"\nusing namespace burn::cuda;\n"
      "extern \"C\" __global__ void __launch_bounds__({0}) burn_kernel(const {1}* from, {2}* to, std::int64_t count) "
      "{{\n  const auto i = static_cast<std::int64_t>(blockIdx.x) * {0} + threadIdx.x;\n  if (i >= count) return;\n"
      "  const auto x = from[i];\n  to[i] = {3};\n}}\n",
      kThreads, from_type, to_type, expression)};
  emit.launch(source, {.blocks = (count + kThreads - 1) / kThreads, .threads = kThreads}, {from, to, count});
}

}  // namespace

NcclFunction function_of(ir::ReduceFn fn) {
  switch (fn) {
    case ir::ReduceFn::sum:
      return NcclFunction::sum;
    case ir::ReduceFn::prod:
      return NcclFunction::prod;
    case ir::ReduceFn::max:
      return NcclFunction::max;
    case ir::ReduceFn::min:
      return NcclFunction::min;
  }
  return NcclFunction::sum;
}

NcclNumbers nccl_numbers(ir::ReduceFn fn, ir::DType dtype) {
  const bool compares = fn == ir::ReduceFn::max || fn == ir::ReduceFn::min;
  if (ir::is_floating(dtype) && compares) return ordered(fn, dtype);
  switch (dtype) {
    case ir::DType::f64:
      return {NcclType::f64, 8};
    case ir::DType::f32:
      return {NcclType::f32, 4};
    case ir::DType::f16:
    case ir::DType::bf16:
      return widened(NcclType::f32, "float", dtype);
    case ir::DType::i64:
      return {NcclType::i64, 8};
    case ir::DType::u64:
      return {NcclType::u64, 8};
    case ir::DType::i32:
      return {NcclType::i32, 4};
    case ir::DType::u32:
      return {NcclType::u32, 4};
    case ir::DType::i16:
      return widened(NcclType::i32, "int", dtype);
    case ir::DType::u16:
      return widened(NcclType::u32, "unsigned", dtype);
    case ir::DType::i8:
      return {NcclType::i8, 1};
    case ir::DType::u8:
    case ir::DType::bool_:
      return {NcclType::u8, 1};
  }
  return {};
}

Address to_nccl_numbers(Emitter& emit, const NcclNumbers& as, ir::DType dtype, const Address& from,
                        std::int64_t count) {
  if (!as.wide) return from;
  const auto to = emit.scratch(as.bytes * static_cast<std::size_t>(count));
  convert(emit, storage_type(dtype), as.wide, as.to, from, to, count);
  return to;
}
void from_nccl_numbers(Emitter& emit, const NcclNumbers& as, const Address& from, const View& to) {
  if (as.wide) convert(emit, as.wide, storage_type(to.dtype), as.from, from, to.address, to.num_elements());
}

}  // namespace burn::backends::cuda
