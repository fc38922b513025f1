// Helpers for the lowering of all factorisations, by kernels of our own and by a library.
#pragma once

#include <algorithm>

#include <fmt/format.h>

#include "backends/cuda/kernels/shapes.h"
#include "backends/cuda/lower/lower.h"
#include "backends/cuda/lower/strided.h"
#include "ir/node_errors.h"

namespace burn::backends::cuda {

// The same struct as in kernels/linalg.h.
struct MatrixShape {
  std::int64_t rows = 0, columns = 0, others = 0;
};

struct MatrixBatch {
  std::int64_t count = 1, rows = 0, columns = 0;

  explicit MatrixBatch(const ir::Shape& shape) : rows(shape[shape.rank() - 2]), columns(shape.back()) {
    for (int i = 0; i < shape.rank() - 2; ++i) count *= shape[i];
  }
  std::int64_t least() const { return std::min(rows, columns); }
  std::int64_t size() const { return rows * columns; }
};

// A kernel of kernels/`header`. "T*" in `parameters` stands for a pointer to elements.
inline KernelSource matrix_kernel(const char* header, ir::DType dtype, std::string parameters,
                                  const std::string& call) {
  const std::string type = storage_type(dtype);
  for (auto at = parameters.find("T*"); at != std::string::npos; at = parameters.find("T*", at + type.size()))
    parameters.replace(at, 1, type);
  return {
      fmt::format("#include \"backends/cuda/kernels/{}\"\n"
                  "using namespace burn::cuda;\n"
                  "extern \"C\" __global__ void __launch_bounds__(kThreads) burn_kernel({},\n"
                  "    const __grid_constant__ MatrixShape shape) {{\n"
                  "  {};\n"
                  "}}\n",
                  header, parameters, call)};
}

// A grid with one block per matrix.
inline Grid grid_of(const MatrixBatch& batch, std::int64_t blocks_y = 1) {
  return {.blocks = batch.count, .threads = burn::cuda::kThreads, .blocks_y = blocks_y};
}

inline Address scratch_of(Emitter& emit, ir::DType dtype, std::int64_t count) {
  return emit.scratch(static_cast<std::size_t>(std::max<std::int64_t>(count, 1)) * ir::size_of(dtype));
}

inline Address report_of(Emitter& emit, const MatrixBatch& batch, Status (*explain)(const ir::MatrixFailure&)) {
  return emit.report([batch, explain](std::int64_t found) {
    return explain({.matrix = found >> 32,
                    .count = batch.count,
                    .rows = batch.rows,
                    .columns = batch.columns,
                    .number = found & 0xffffffff});
  });
}

}  // namespace burn::backends::cuda
