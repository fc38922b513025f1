#include "backends/vulkan/runtime/uploads.h"

#include <algorithm>
#include <utility>

namespace burn::backends::vulkan {
namespace {

// The most bytes of freed blocks of one size that are still in use: beyond that a copy waits for the first of them. Two
// such blocks are always allowed, so that one is filled while the other is used.
constexpr std::size_t kMaxBusyBytes = std::size_t{32} << 20;

}  // namespace

Result<std::unique_ptr<Uploads>> Uploads::open(std::shared_ptr<Timeline> compute) {
  BURN_TRY(auto copies, Timeline::open(compute->shared_device(), Queue::copies));
  BURN_TRY(auto commands, CommandBuffers::open(copies));
  return std::unique_ptr<Uploads>(new Uploads(std::move(compute), std::move(copies), std::move(commands)));
}

Uploads::Uploads(std::shared_ptr<Timeline> compute, std::shared_ptr<Timeline> copies,
                 std::unique_ptr<CommandBuffers> commands)
    : compute_(std::move(compute)),
      copies_(std::move(copies)),
      memory_(compute_->device().buffers().open_stream(compute_, copies_)),
      commands_(std::move(commands)),
      completions_(copies_) {}

Uploads::~Uploads() { memory_->close(); }

Result<VulkanBufferPtr> Uploads::copy(std::shared_ptr<SharedBlock> block) {
  const auto bytes = block->bytes().size();
  BURN_TRY(auto taken, memory_->allocate_oldest(bytes, kMaxBusyBytes));
  // If both timelines share a queue, held-back commands would be queued after the copy that waits for them.
  BURN_TRY(const auto last_use, compute_->hand_in(taken.last_use));
  BURN_TRY(auto* const commands, commands_->begin(true));
  const auto& from = block->piece();
  const auto& to = taken.buffer->piece();
  const VkBufferCopy region{.srcOffset = from.offset, .dstOffset = to.offset, .size = bytes};
  copies_->device().vk().CmdCopyBuffer(commands, from.page->buffer, to.page->buffer, 1, &region);
  auto status = commands_->end(commands, false);
  if (status.ok()) status = copies_->submit(commands, {compute_, last_use});
  commands_->give_back(commands);
  BURN_RETURN_IF_ERROR(status);
  taken.buffer->upload = copies_->submitted();
  completions_.add([block = std::move(block)](const Status&) {});  // kept until it is copied
  return std::move(taken.buffer);
}

Await Uploads::of(std::span<const BufferPtr> buffers) const {
  std::uint64_t last = 0;
  for (const auto& buffer : buffers) {
    if (buffer && owns(vulkan(buffer))) last = std::max(last, vulkan(buffer).upload);
  }
  return last > 0 ? Await{copies_, last} : Await{};
}

}  // namespace burn::backends::vulkan
