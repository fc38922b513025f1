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
    body += cuda_cpp::sum_lines(k, from, to);
    arguments.emplace_back(parts[k]);
    arguments.emplace_back(sums[k]);
  }
  const auto lines = parts[0].shape[0], columns = parts[0].shape[1];
  arguments.emplace_back(lines);
  arguments.emplace_back(columns);
  emit.launch(cuda_cpp::lines_kernel(parameters, body),
              {.blocks = (columns + kColumns - 1) / kColumns,
               .threads = 1024,
               .blocks_y = static_cast<std::int64_t>(parts.size())},
              std::move(arguments));
}

}  // namespace burn::compile
