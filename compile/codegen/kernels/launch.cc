#include "compile/codegen/kernels/launch.h"

#include <cstdlib>

#include "base/error.h"
#include "compile/codegen/kernels/arguments.h"

namespace burn::compile::kernels {

void launch(Emitter& emit, kernel::Writer& writer, Grid grid, std::vector<Argument> arguments) {
  auto written = std::make_shared<const kernel::Kernel>(writer.take());
  BURN_CHECK(written->parameters.size() == arguments.size(), "an argument for each parameter of a kernel");
  grid.threads = written->threads;
  emit.launch(KernelSource{kernel::key(*written), std::move(written)}, grid, std::move(arguments));
}

std::int64_t reach(const View& view) {
  std::int64_t most = 1;
  for (int d = 0; d < view.rank(); ++d) most += (view.shape[d] - 1) * std::abs(view.strides[d]);
  return most;
}

}  // namespace burn::compile::kernels
