#include "compile/codegen/dialects/cuda_cpp.h"

#include <fmt/format.h>

namespace burn::compile {

const char* storage_type(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::f64:
      return "double";
    case ir::DType::f32:
      return "float";
    case ir::DType::f16:
      return "half_t";
    case ir::DType::bf16:
      return "bfloat16_t";
    case ir::DType::i64:
      return "std::int64_t";
    case ir::DType::i32:
      return "std::int32_t";
    case ir::DType::i16:
      return "std::int16_t";
    case ir::DType::i8:
      return "std::int8_t";
    case ir::DType::u64:
      return "std::uint64_t";
    case ir::DType::u32:
      return "std::uint32_t";
    case ir::DType::u16:
      return "std::uint16_t";
    case ir::DType::u8:
      return "std::uint8_t";
    case ir::DType::bool_:
      break;
  }
  return "bool";
}

const char* compute_type(ir::DType dtype) { return storage_type(ir::compute_dtype(dtype)); }

namespace cuda_cpp {

std::string pack_type(const char* type, int width) { return fmt::format("Pack<{}, {}>", type, width); }
std::string walk_type(int operands) { return fmt::format("burn::cuda::Walk<{}>", operands); }
const char* row_type(bool is_narrow) { return is_narrow ? "std::uint32_t" : "std::int64_t"; }

std::string unroll(int times) { return fmt::format("  #pragma unroll {}\n", times); }

std::string to_compute(const char* storage, std::string_view element) {
  return fmt::format("to_compute<{}>({})", storage, element);
}
std::string to_storage(const char* storage, std::string_view number) {
  return fmt::format("to_storage<{}>({})", storage, number);
}
std::string rounded(const char* storage, std::string_view number) {
  return fmt::format("rounded<{}>({})", storage, number);
}
std::string converted(const char* compute, std::string_view number) {
  return fmt::format("convert_number<{}>({})", compute, number);
}
std::string cast(const char* type, std::string_view expression) {
  return fmt::format("static_cast<{}>({})", type, expression);
}

std::string load_pack(const char* type, int width, std::string_view pointer, std::string_view at) {
  return fmt::format("*reinterpret_cast<const {}*>({} + {})", pack_type(type, width), pointer, at);
}
std::string store_pack(const char* type, int width, std::string_view pointer, std::string_view at,
                       std::string_view pack) {
  return fmt::format("*reinterpret_cast<{}*>({} + {}) = {};\n", pack_type(type, width), pointer, at, pack);
}
std::string prefetch(std::string_view pointer) { return fmt::format("prefetch({});\n", pointer); }

std::string call(ir::PointwiseFn fn, const char* compute, std::string_view arguments) {
  return fmt::format("row_{}<{}>({})", ir::row(fn).name, compute, arguments);
}
std::string call_coarse(std::string_view function, std::string_view arguments) {
  return fmt::format("burn::cuda::coarse::{}({})", function, arguments);
}
std::string declare_divisor(std::string_view number) {
  return fmt::format("const burn::cuda::Divisor d_{0}({0});\n", number);
}
std::string divide(std::string_view divisor, std::string_view by) {
  return fmt::format("d_{}.divide({})", divisor, by);
}

std::string random_at(ir::RandomFn fn, const char* compute, std::string_view bindings, std::string_view block,
                      std::string_view position) {
  const auto function = fn == ir::RandomFn::bits      ? std::string("bits_at")
                        : fn == ir::RandomFn::uniform ? fmt::format("uniform_at<{}>", compute)
                                                      : fmt::format("normal_at<{}>", compute);
  return fmt::format("burn::cuda::{}({}[0], {}[1] + {}, {})", function, bindings, bindings, block, position);
}

std::string offsets_in(int rank, bool is_narrow, std::string_view walk, std::string_view position) {
  if (is_narrow) {
    return fmt::format("burn::cuda::narrow_offsets_in<{}>({}, {})", rank, walk, cast("std::uint32_t", position));
  }
  return fmt::format("burn::cuda::offsets_in<{}>({}, {})", rank, walk, position);
}

std::string identity(ir::ReduceFn fn, const char* compute) {
  return fmt::format("{}::identity<{}>()", combine_type(fn), compute);
}
std::string combine(ir::ReduceFn fn, const char* compute, std::string_view a, std::string_view b) {
  return fmt::format("{}::combine<{}>({}, {})", combine_type(fn), compute, a, b);
}
std::string reduce_row(ir::ReduceFn fn, int site, std::string_view value) {
  return fmt::format("burn::cuda::reduce_row<kLanes, {}, {}>({})", combine_type(fn), site, value);
}
std::string check_index(std::string_view index, std::string_view size, std::string_view report) {
  return fmt::format("burn::cuda::index_is_inside({}, {}, {})", index, size, report);
}

namespace {

// A row of pointwise.def as a function of its own name. Formulas are written for the namespace of
// ir/semantics/prelude.h.
std::string function(ir::PointwiseFn fn) {
  const auto& row = ir::row(fn);
  const bool is_bool = row.kind == ir::PointwiseClass::compare || row.kind == ir::PointwiseClass::test;
  const bool chooses = row.kind == ir::PointwiseClass::choose;
  const char* parameters = row.arity == 1   ? "T x"
                           : chooses        ? "bool a, T b, T c"
                           : row.arity == 2 ? "T a, T b"
                                            : "T a, T b, T c";
  return fmt::format("template <typename T> BURN_ALWAYS_INLINE {} row_{}({}) {{ return static_cast<{}>({}); }}\n",
                     is_bool ? "bool" : "T", row.name, parameters, is_bool ? "bool" : "T", row.value);
}

std::string include(std::string_view header) { return fmt::format("#include \"backends/cuda/kernels/{}\"\n", header); }

}  // namespace

std::string group_opening(bool is_coarse, bool divides, const std::set<ir::PointwiseFn>& functions) {
  std::string text = is_coarse ? include("coarse.h") : "";
  if (divides) text += include("divisor.h");
  text += include("random.h") + include("row.h") + "namespace burn::ir::prelude {\n";
  text +=
      "using burn::cuda::half_t, burn::cuda::bfloat16_t, burn::cuda::rounded, burn::cuda::to_compute, "
      "burn::cuda::to_storage, burn::cuda::Pack, burn::cuda::prefetch;\n"
      "using burn::ir::convert_number;\n";
  for (const auto fn : functions) text += function(fn);
  return text;
}

std::string group_kernel(int threads, int blocks_per_multiprocessor, std::string_view parameters,
                         std::string_view body) {
  return fmt::format("extern \"C\" __global__ void __launch_bounds__({}, {}) burn_kernel({}) {{\n{}}}\n}}\n", threads,
                     blocks_per_multiprocessor, parameters, body);
}

std::string shared_memory() {
  return "  extern __shared__ __align__(16) unsigned char burn_shared[];\n  auto* place = burn_shared;\n";
}

std::string shared_pack_array(std::string_view name, const char* type, int width, std::string_view elements) {
  return fmt::format(
      "  auto* const {0} = reinterpret_cast<{1}*>(place);\n"
      "  place += ({3} + {2} - 1) / {2} * sizeof({1});\n",
      name, pack_type(type, width), width, elements);
}

KernelSource lines_kernel(std::string_view parameters, std::string_view body) {
  return {include("lines.h") +
          fmt::format("using namespace burn::cuda;\n"
                      "extern \"C\" __global__ void __launch_bounds__(kLineColumns * kLinesAtOnce) burn_kernel({}"
                      "std::int64_t lines, std::int64_t columns) {{\n{}}}\n",
                      parameters, body)};
}

std::string sum_lines(std::size_t k, const char* from, const char* to) {
  return fmt::format("  if ({3} == {0}) return sum_lines<{1}, {2}>(x{0}, y{0}, {4}, lines, columns);\n", k, from, to,
                     kBlockRow, kBlock);
}

KernelSource constant_kernel(ir::DType dtype) {
  const auto* type = storage_type(dtype);
  return {include("types.h") + fmt::format("using namespace burn::cuda;\n"
                                           "extern \"C\" __global__ void burn_kernel({}* y, {} x) {{ *y = "
                                           "to_storage<{}>(burn::ir::convert_number<compute_t<{}>>(x)); }}\n",
                                           type, ir::is_floating(dtype) ? "double" : "std::int64_t", type, type)};
}

}  // namespace cuda_cpp

KernelSource BlockKernel::alone() const {
  std::string list;
  for (const auto& [type, name] : parameters)
    list += fmt::format("{}{} const {}", list.empty() ? "" : ", ", type, name);
  return {
      fmt::format("{}extern \"C\" __global__ void __launch_bounds__(256) burn_kernel({}) {{\n"
                  "  const unsigned block = blockIdx.x;\n{}}}\n}}\n",
                  functions, list, body)};
}

KernelSource BlockKernel::merged(std::size_t most) const {
  std::string members, names;
  for (const auto& [type, name] : parameters) {
    members += fmt::format("  {} {};\n", type, name);
    names += fmt::format("  const auto& {0} = many.of[which].{0};\n", name);
  }
  return {fmt::format(
      "{0}struct Arguments {{\n{1}}};\n"
      "struct Many {{\n  std::int64_t count;\n  std::int64_t begin[{2}];\n  Arguments of[{2}];\n}};\n"
      "extern \"C\" __global__ void __launch_bounds__(256) burn_kernel(const __grid_constant__ Many many) {{\n"
      "  int which = 0;\n"
      "  for (int step = {2} / 2; step > 0; step /= 2) {{  // the last one that begins at or before this block\n"
      "    if (which + step < many.count && many.begin[which + step] <= blockIdx.x) which += step;\n  }}\n"
      "  const unsigned block = blockIdx.x - static_cast<unsigned>(many.begin[which]);\n{3}{4}}}\n}}\n",
      functions, members, most, names, body)};
}

}  // namespace burn::compile
