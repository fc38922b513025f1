// Commands as dispatches, and the table of their arguments.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "backends/vulkan/device/device.h"
#include "backends/vulkan/lower/system_kernels.h"
#include "compile/lower/commands.h"

namespace burn::backends::vulkan {

// A kernel, how many blocks of it, and where in the table its arguments lie.
struct Dispatch {
  VkPipeline pipeline = VK_NULL_HANDLE;
  std::uint32_t blocks[3] = {1, 1, 1};
  std::size_t arguments = 0;  // bytes from the table's begin
  std::int32_t step = 0;      // of the plan
};

// Dispatches of one level need not wait for each other; those of the next level wait for all of it.
using Levels = std::vector<std::vector<Dispatch>>;

// From one thread at a time while it is made; then constant.
class DispatchTable {
 public:
  // The device outlives it.
  explicit DispatchTable(Device& device) : device_(device) {}

  // Makes the system's kernels. Errors: what the driver says.
  Status open();
  VkPipeline system_kernel(SystemKernel which) const { return system_[static_cast<std::size_t>(which)]; }

  // `kernels`: by Launch::source. Errors: INTERNAL for a call of a library.
  Result<Dispatch> add(const compile::Command& command, std::span<const VkPipeline> kernels);
  // A kernel of the system, of so many threads; `addresses`: which of the words are addresses.
  Dispatch add_system(SystemKernel which, std::uint64_t threads, std::span<const std::uint64_t> words,
                      std::span<const std::pair<std::size_t, compile::Address>> addresses, std::int32_t step = 0);

  std::size_t bytes() const { return records_.size(); }
  // The arguments with addresses where `bindings` has them, at `table`, which is bytes() long.
  void write(const compile::Bindings& bindings, std::byte* table) const;
  // Steps whose grids the device does not take: UNIMPLEMENTED with the numbers.
  const std::vector<std::pair<std::int32_t, Status>>& too_large() const { return too_large_; }

 private:
  // Room for a record of so many words, which `addresses` counts, in the table.
  std::size_t add_record(std::span<const std::uint64_t> words);
  void set_blocks(Dispatch& dispatch, std::int64_t blocks, std::int64_t blocks_y);

  Device& device_;
  std::vector<VkPipeline> system_;
  std::vector<std::byte> records_;
  std::vector<std::pair<std::size_t, compile::Address>> addresses_;  // where in `records_` each belongs
  std::vector<std::pair<std::int32_t, Status>> too_large_;
};

}  // namespace burn::backends::vulkan
