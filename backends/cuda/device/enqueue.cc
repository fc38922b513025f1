#include "backends/cuda/device/enqueue.h"

#include <cstring>

#include "base/overloaded.h"

namespace burn::backends::cuda {
namespace {

Status launch(const Launch& launch, std::span<const Kernel> kernels, const Bindings& bindings, CUstream stream) {
  thread_local std::vector<std::byte> bytes;
  thread_local std::vector<void*> parameters;
  bytes.assign(launch.parameters.begin(), launch.parameters.end());
  for (const auto& [offset, address] : launch.addresses) {
    const CUdeviceptr pointer = bindings.at(address);
    std::memcpy(bytes.data() + offset, &pointer, sizeof pointer);
  }
  parameters.clear();
  for (const auto offset : launch.offsets) parameters.push_back(bytes.data() + offset);
  const auto& grid = launch.grid;
  return check(driver().cuLaunchKernel(kernels[launch.source].function, static_cast<unsigned>(grid.blocks),
                                       static_cast<unsigned>(grid.blocks_y), 1, static_cast<unsigned>(grid.threads), 1,
                                       1, static_cast<unsigned>(grid.shared_bytes), stream, parameters.data(), nullptr),
               "cuLaunchKernel");
}

}  // namespace

Status enqueue(const Command& command, std::span<const Kernel> kernels, const Bindings& bindings, CUstream stream) {
  return std::visit(Overloaded{[&](const Launch& what) { return launch(what, kernels, bindings, stream); },
                               [&](const Fill& what) {
                                 return check(driver().cuMemsetD8Async(bindings.at(what.where), 0, what.bytes, stream),
                                              "cuMemsetD8Async");
                               },
                               [&](const LibraryCall& call) { return call(bindings, stream); }},
                    command.what);
}

Status enqueue(std::span<const Command> commands, std::span<const Kernel> kernels, const Bindings& bindings,
               CUstream stream, const std::vector<bool>& left_out) {
  for (const auto& command : commands) {
    if (!left_out.empty() && left_out[static_cast<std::size_t>(command.step)]) continue;
    BURN_RETURN_IF_ERROR(enqueue(command, kernels, bindings, stream));
  }
  return {};
}

}  // namespace burn::backends::cuda
