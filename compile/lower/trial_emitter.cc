#include "compile/lower/trial_emitter.h"

#include <cstdlib>

namespace burn::compile {

TrialViews::TrialViews(std::span<const View> operands_of_op, std::span<const View> results_of_op)
    : operands(moved(operands_of_op, Address::Base::input)), results(moved(results_of_op, Address::Base::output)) {}

std::vector<View> TrialViews::moved(std::span<const View> views, Address::Base base) {
  std::vector<View> all;
  for (auto view : views) {
    const auto element = static_cast<std::int64_t>(ir::size_of(view.dtype));
    std::int64_t elements = 1, before = 0;  // elements before the first one, where strides are negative
    for (int d = 0; d < view.rank(); ++d) {
      const auto reach = (view.shape[d] - 1) * view.strides[d];
      elements += std::abs(reach);
      if (reach < 0) before -= reach;
    }
    sizes.push_back(static_cast<std::size_t>(elements * element));
    view.address = {base, static_cast<std::int32_t>(all.size()), before * element};
    all.push_back(view);
  }
  return all;
}

Address TrialEmitter::scratch(std::size_t bytes) {
  offsets_.push_back(static_cast<std::int64_t>(scratch_bytes_));
  scratch_bytes_ += (bytes + 255) / 256 * 256;
  return {Address::Base::block, static_cast<std::int32_t>(offsets_.size()) - 1, 0};
}

void TrialEmitter::launch(const KernelSource& source, const Grid& grid, std::vector<Argument> arguments) {
  if (grid.blocks == 0 || grid.blocks_y == 0) return;
  commands_.push_back({Launch(sources_.size(), grid, arguments), 0});
  sources_.push_back(source);
}

void TrialEmitter::launch(std::shared_ptr<const BlockKernel> kernel, std::int64_t blocks,
                          std::vector<Argument> arguments, std::vector<Address>) {
  launch(kernel->alone(), {.blocks = blocks}, std::move(arguments));
}

}  // namespace burn::compile
