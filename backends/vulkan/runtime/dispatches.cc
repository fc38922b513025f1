#include "backends/vulkan/runtime/dispatches.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "backends/vulkan/device/pipelines.h"

namespace burn::backends::vulkan {

Status DispatchTable::open() {
  BURN_TRY(system_, device_.pipelines().of(system_kernels()));
  return {};
}

Result<Dispatch> DispatchTable::add(const compile::Command& command, std::span<const VkPipeline> kernels) {
  if (const auto* launch = std::get_if<compile::Launch>(&command.what)) {
    Dispatch dispatch{.pipeline = kernels[launch->source], .step = command.step};
    set_blocks(dispatch, launch->grid.blocks, launch->grid.blocks_y);
    // One word for each parameter (kernel/kernel.h), though a launch may place them further apart.
    std::vector<std::uint64_t> words(launch->offsets.size());
    for (std::size_t k = 0; k < words.size(); ++k) {
      const auto at = launch->offsets[k];
      const auto end = std::min(at + sizeof(std::uint64_t), launch->parameters.size());
      std::memcpy(&words[k], launch->parameters.data() + at, end - at);
    }
    dispatch.arguments = add_record(words);
    for (const auto& [where, address] : launch->addresses) {
      const auto word = std::ranges::find(launch->offsets, where) - launch->offsets.begin();
      addresses_.emplace_back(dispatch.arguments + 8 * static_cast<std::size_t>(word), address);
    }
    return dispatch;
  }
  const auto* fill = std::get_if<compile::Fill>(&command.what);
  if (!fill) return internal_error("Vulkan: a command that calls a library");
  const bool is_of_words = fill->bytes % 4 == 0 && fill->where.offset % 4 == 0;
  const std::uint64_t count = is_of_words ? fill->bytes / 4 : fill->bytes;
  const std::uint64_t record[] = {0, count};
  const std::pair<std::size_t, compile::Address> to[] = {{0, fill->where}};
  return add_system(is_of_words ? SystemKernel::fill_words : SystemKernel::fill_bytes, count, record, to, command.step);
}

Dispatch DispatchTable::add_system(SystemKernel which, std::uint64_t threads, std::span<const std::uint64_t> words,
                                   std::span<const std::pair<std::size_t, compile::Address>> addresses,
                                   std::int32_t step) {
  Dispatch dispatch{.pipeline = system_kernel(which), .step = step};
  set_blocks(dispatch, static_cast<std::int64_t>((threads + kSystemThreads - 1) / kSystemThreads), 1);
  dispatch.arguments = add_record(words);
  for (const auto& [word, address] : addresses) addresses_.emplace_back(dispatch.arguments + 8 * word, address);
  return dispatch;
}

std::size_t DispatchTable::add_record(std::span<const std::uint64_t> words) {
  const auto at = records_.size();
  const auto bytes = std::as_bytes(words);
  records_.insert(records_.end(), bytes.begin(), bytes.end());
  records_.resize((records_.size() + 15) / 16 * 16);
  return at;
}

// More blocks than a grid may have along its first dim are folded into the third (dialects/spirv.h).
void DispatchTable::set_blocks(Dispatch& dispatch, std::int64_t blocks, std::int64_t blocks_y) {
  const auto& most = device_.adapter().max_blocks;
  const std::int64_t x_most = most[0];
  const auto z = (blocks + x_most - 1) / x_most;
  if (blocks_y > most[1] || z > most[2]) {
    too_large_.emplace_back(dispatch.step,
                            unimplemented(fmt::format("Vulkan: a grid of {} x {} blocks; {} takes {} x {} x {}", blocks,
                                                      blocks_y, device_.adapter().name, most[0], most[1], most[2])));
    return;
  }
  dispatch.blocks[0] = static_cast<std::uint32_t>((blocks + z - 1) / z);
  dispatch.blocks[1] = static_cast<std::uint32_t>(blocks_y);
  dispatch.blocks[2] = static_cast<std::uint32_t>(z);
}

void DispatchTable::write(const compile::Bindings& bindings, std::byte* table) const {
  std::ranges::copy(records_, table);
  for (const auto& [where, address] : addresses_) {
    const auto value = bindings.at(address);
    std::memcpy(table + where, &value, sizeof value);
  }
}

}  // namespace burn::backends::vulkan
