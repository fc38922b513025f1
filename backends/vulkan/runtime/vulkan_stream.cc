#include "backends/vulkan/runtime/vulkan_stream.h"

#include <cstring>

#include <fmt/format.h>

#include "backends/gpu/device_run.h"
#include "base/settings.h"

namespace burn::backends::vulkan {

Result<std::unique_ptr<VulkanStream>> VulkanStream::open(std::shared_ptr<Device> device,
                                                         std::shared_ptr<HostMemory> host,
                                                         std::shared_ptr<HostMemory> written, FailureSink sink) {
  if (device->is_lost()) return device->lost();
  BURN_TRY(auto timeline, Timeline::open(std::move(device)));
  BURN_TRY(auto commands, CommandBuffers::open(timeline));
  return std::unique_ptr<VulkanStream>(
      new VulkanStream(std::move(timeline), std::move(commands), std::move(host), std::move(written), std::move(sink)));
}

VulkanStream::VulkanStream(std::shared_ptr<Timeline> timeline, std::unique_ptr<CommandBuffers> commands,
                           std::shared_ptr<HostMemory> host, std::shared_ptr<HostMemory> written, FailureSink sink)
    : timeline_(std::move(timeline)),
      host_(std::move(host)),
      sink_(std::move(sink)),
      memory_(timeline_->device().buffers().open_stream(timeline_)),
      commands_(std::move(commands)),
      arena_(timeline_->device().facts().max_allocation),
      completions_(timeline_),
      tables_(*memory_, *host_, std::move(written)),
      recordings_(
          std::make_unique<Recordings>(timeline_, *commands_, tables_, completions_, !is_off(Setting::graphs))) {}

VulkanStream::~VulkanStream() {
  (void)timeline_->wait(timeline_->submitted());
  recordings_.reset();
  arena_.clear();
  memory_->close();
  uploads_.reset();
}

// --- bytes -----------------------------------------------------------------------------------------------------------

Status VulkanStream::copy(const Piece& from, const Piece& to, std::size_t bytes, bool host_reads, Await after) {
  BURN_TRY(auto* const commands, commands_->begin(true));
  const VkBufferCopy copy{.srcOffset = from.offset, .dstOffset = to.offset, .size = bytes};
  timeline_->device().vk().CmdCopyBuffer(commands, from.page->buffer, to.page->buffer, 1, &copy);
  auto status = commands_->end(commands, host_reads);
  if (status.ok()) status = timeline_->submit(commands, std::move(after));
  commands_->give_back(commands);
  return status;
}

Result<BufferPtr> VulkanStream::upload(SharedBytes bytes) {
  BURN_TRY(auto block, host_->allocate(bytes.size()));
  if (!bytes.empty()) std::memcpy(block->bytes().data(), bytes.data(), bytes.size());
  return upload(HostBlockPtr(std::move(block)));
}

Result<BufferPtr> VulkanStream::upload(HostBlockPtr block) {
  const auto bytes = block->bytes();
  auto own = std::dynamic_pointer_cast<SharedBlock>(block);
  if (!own) return upload(SharedBytes(block, bytes));
  if (!bytes.empty() && timeline_->device().overlaps_uploads()) {
    if (!uploads_) {
      BURN_TRY(uploads_, Uploads::open(timeline_));
    }
    BURN_TRY(auto buffer, uploads_->copy(std::move(own)));
    return BufferPtr(std::move(buffer));
  }
  BURN_TRY(auto buffer, memory_->allocate(bytes.size()));
  if (!bytes.empty()) {
    BURN_RETURN_IF_ERROR(copy(own->piece(), buffer->piece(), bytes.size(), false));
    completions_.add([block = std::move(block)](const Status&) {});  // kept until it is copied
  }
  return BufferPtr(std::move(buffer));
}

void VulkanStream::download(BufferPtr buffer, std::size_t size, Downloaded done) {
  const auto fail = [&](Status status) {
    completions_.add(
        [done, failure = std::make_shared<const Status>(std::move(status))](const Status&) { done({}, failure); });
  };
  if (size > buffer->size())
    return fail(invalid_argument(fmt::format("download: {} bytes of a buffer of {}", size, buffer->size())));
  auto block = host_->allocate(size);
  if (!block.ok()) return fail(block.status());
  if (size > 0) {
    if (auto copied = copy(vulkan(buffer).piece(), (*block)->piece(), size, true, uploads_of(std::span(&buffer, 1)));
        !copied.ok())
      return fail(std::move(copied));
  }
  completions_.add([buffer = std::move(buffer), block = *block, done = std::move(done)](const Status& device) {
    if (!device.ok()) return done({}, std::make_shared<const Status>(device));
    if (auto failure = failure_of(buffer)) return done({}, failure);
    done(SharedBytes(block, block->bytes()), nullptr);
  });
}

Result<BufferPtr> VulkanStream::clone(const BufferPtr& buffer) {
  BURN_TRY(auto made, memory_->allocate(buffer->size()));
  made->outcome = vulkan(buffer).outcome;
  if (buffer->size() > 0)
    BURN_RETURN_IF_ERROR(
        copy(vulkan(buffer).piece(), made->piece(), buffer->size(), false, uploads_of(std::span(&buffer, 1))));
  return BufferPtr(std::move(made));
}

void VulkanStream::synchronize(Done done) {
  completions_.add([done = std::move(done)](const Status& device) { done(device); },
                   uploads_ ? uploads_->all() : Await{});
}

}  // namespace burn::backends::vulkan
