#include "backends/cuda/runtime/bound_run.h"

#include <fmt/format.h>

#include "backends/cuda/device/enqueue.h"
#include "backends/cuda/graphs/branches.h"
#include "base/settings.h"

namespace burn::backends::cuda {

BoundRun::BoundRun(const Lowered& lowered, const RunMemory& memory) : lowered_(lowered), memory_(memory) {
  inputs_.reserve(memory.inputs.size());
  outputs_.reserve(memory.outputs.size());
  for (const auto& input : memory.inputs) inputs_.push_back(input.address);
  for (const auto& output : memory.outputs) outputs_.push_back(output.address);
  bindings_.inputs = inputs_;
  bindings_.outputs = outputs_;
  bindings_.blocks = lowered.arena.offsets;
  bindings_.arena = memory.arena;
  bindings_.bindings = memory.bindings;
  bindings_.failures = memory.failures;
}

// The memory of the whole value or block that a use is a part of.
compile::MemoryUse BoundRun::whole(const Use& use) const {
  constexpr std::uint64_t kFound = 16;  // bytes of a check's report
  auto address = use.where;
  const auto index = static_cast<std::size_t>(address.index);
  std::uint64_t bytes = 0;
  switch (address.base) {
    case Address::Base::input:
      bytes = memory_.inputs[index].bytes;
      break;
    case Address::Base::output:
      bytes = memory_.outputs[index].bytes;
      break;
    case Address::Base::block:
      bytes = lowered_.block_bytes[index];
      break;
    case Address::Base::failures:
      return {bindings_.at(address), bindings_.at(address) + kFound, use.is_written};
    case Address::Base::bindings:
    case Address::Base::none:
      return {};
  }
  address.offset = 0;
  return {bindings_.at(address), bindings_.at(address) + bytes, use.is_written};
}

std::vector<std::vector<compile::MemoryUse>> BoundRun::uses() const {
  std::vector<std::vector<compile::MemoryUse>> uses;
  uses.reserve(lowered_.commands.size());
  for (const auto& command : lowered_.commands) {
    auto& here = uses.emplace_back();
    for (const auto& use : command.uses) here.push_back(whole(use));
  }
  return uses;
}

CUgraphExec capture_run_branches(const Lowered& lowered, std::span<const Kernel> kernels, const RunMemory& memory,
                                 CUstream stream) {
  constexpr std::size_t kMax = 4096;  // commands: finding the order of more would take too long
  const auto count = lowered.commands.size();
  if (count > kMax) return nullptr;
  const BoundRun run(lowered, memory);
  const auto order = compile::order_commands(run.uses());
  const auto longest = static_cast<std::size_t>(compile::critical_path(order, std::vector<double>(count, 1)));
  if (longest == count) return nullptr;
  const auto graph = capture_branches(
      stream, order, [&](std::size_t i) { return enqueue(lowered.commands[i], kernels, run.bindings(), stream); });
  if (setting(Setting::trace).find("plan") != std::string::npos) {
    fmt::print(stderr, "graph: {} commands, {} of them on the longest way{}\n", count, longest,
               graph.ok() ? "" : ", but one after the other: " + graph.status().to_string());
  }
  return graph.ok() ? *graph : nullptr;
}

}  // namespace burn::backends::cuda
