#include "compile/codegen/kernels/launch.h"

#include "base/error.h"

namespace burn::compile::kernels {

void launch(Emitter& emit, kernel::Writer& writer, Grid grid, std::vector<Argument> arguments) {
  auto written = std::make_shared<const kernel::Kernel>(writer.take());
  BURN_CHECK(written->parameters.size() == arguments.size(), "an argument for each parameter of a kernel");
  grid.threads = written->threads;
  emit.launch(KernelSource{kernel::key(*written), std::move(written)}, grid, std::move(arguments));
}

}  // namespace burn::compile::kernels
