#include "backends/cuda/lower/printing_emitter.h"

#include "compile/codegen/dialects/cuda_kernel.h"

namespace burn::backends::cuda {

void PrintingEmitter::launch(const KernelSource& source, const Grid& grid, std::vector<Argument> arguments) {
  if (!source.kernel) return emit_.launch(source, grid, std::move(arguments));
  if (auto kernel = grid.blocks_y == 1 ? compile::print_cuda_block(*source.kernel) : nullptr)
    emit_.launch(std::move(kernel), grid.blocks, std::move(arguments), written_);
  else
    emit_.launch(compile::print_cuda(*source.kernel), grid, std::move(arguments));
}

}  // namespace burn::backends::cuda
