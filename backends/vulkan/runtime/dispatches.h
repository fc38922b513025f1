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

// A kernel, its grid, and where its arguments are stored in the table.
struct Dispatch {
  VkPipeline pipeline = VK_NULL_HANDLE;
  std::uint32_t blocks[3] = {1, 1, 1};
  std::size_t arguments = 0;  // byte offset in the table
  std::int32_t step = 0;      // of the plan
};

// Dispatches of one level are independent of each other; each level waits for all of the previous one.
using Levels = std::vector<std::vector<Dispatch>>;

// Used by one thread while it is built; then immutable.
class DispatchTable {
 public:
  // The device must outlive it.
  explicit DispatchTable(Device& device) : device_(device) {}

  // Makes the system kernels. Errors: what the driver says.
  Status open();
  VkPipeline system_kernel(SystemKernel which) const { return system_[static_cast<std::size_t>(which)]; }

  // `kernels`: by Launch::source. Errors: INTERNAL for a call of a library.
  Result<Dispatch> add(const compile::Command& command, std::span<const VkPipeline> kernels);
  // Adds a dispatch of a system kernel with `threads` threads; `addresses`: the indices of words that are addresses.
  Dispatch add_system(SystemKernel which, std::uint64_t threads, std::span<const std::uint64_t> words,
                      std::span<const std::pair<std::size_t, compile::Address>> addresses, std::int32_t step = 0);

  std::size_t bytes() const { return records_.size(); }
  // Writes the arguments to `table`, which has bytes() bytes, with addresses resolved by `bindings`.
  void write(const compile::Bindings& bindings, std::byte* table) const;
  // Steps whose grids exceed the device's limits: UNIMPLEMENTED with the numbers.
  const std::vector<std::pair<std::int32_t, Status>>& too_large() const { return too_large_; }

 private:
  // Appends a record of these words to the table and returns its offset.
  std::size_t add_record(std::span<const std::uint64_t> words);
  void set_blocks(Dispatch& dispatch, std::int64_t blocks, std::int64_t blocks_y);

  Device& device_;
  std::vector<VkPipeline> system_;
  std::vector<std::byte> records_;
  std::vector<std::pair<std::size_t, compile::Address>> addresses_;  // offsets in `records_`, and their addresses
  std::vector<std::pair<std::int32_t, Status>> too_large_;
};

}  // namespace burn::backends::vulkan
