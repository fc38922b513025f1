#include "compile/codegen/column_sums.h"

#include <fmt/format.h>

#include "compile/codegen/dialects/cuda_cpp.h"

namespace burn::compile {

void sum_lines(Emitter& emit, std::span<const View> parts, std::span<const View> sums) {
  constexpr std::int64_t kColumns = 32;  // kernels/lines.h
  std::string parameters, body;
  std::vector<Argument> arguments;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const auto *from = compute_type(sums[k].dtype), *to = storage_type(sums[k].dtype);
    parameters += fmt::format("const {}* x{}, {}* y{}, ", from, k, to, k);
    body += fmt::format(
        "  if (blockIdx.y == {0}) return sum_lines<{1}, {2}>(x{0}, y{0}, blockIdx.x, lines, columns);\n", k, from, to);
    arguments.emplace_back(parts[k]);
    arguments.emplace_back(sums[k]);
  }
  const auto lines = parts[0].shape[0], columns = parts[0].shape[1];
  arguments.emplace_back(lines);
  arguments.emplace_back(columns);
  const KernelSource source{
      fmt::format("#include \"backends/cuda/kernels/lines.h\"\nusing namespace burn::cuda;\n"
                  "extern \"C\" __global__ void __launch_bounds__(kLineColumns * kLinesAtOnce) burn_kernel({}"
                  "std::int64_t lines, std::int64_t columns) {{\n{}}}\n",
                  parameters, body)};
  emit.launch(source,
              {.blocks = (columns + kColumns - 1) / kColumns,
               .threads = 1024,
               .blocks_y = static_cast<std::int64_t>(parts.size())},
              std::move(arguments));
}

}  // namespace burn::compile
