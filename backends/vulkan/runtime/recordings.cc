#include "backends/vulkan/runtime/recordings.h"

#include <algorithm>

#include "backends/vulkan/device/pipelines.h"

namespace burn::backends::vulkan {
namespace {

constexpr std::size_t kClearBytes = 16;  // of the record of a word to clear

// Writes dispatches into a command buffer, whose arguments lie in one table.
class Recorder {
 public:
  Recorder(Device& device, VkCommandBuffer commands, VkDeviceAddress table)
      : vk_(device.vk()), layout_(device.pipelines().layout()), commands_(commands), table_(table) {}

  void dispatch(const Dispatch& dispatch) {
    if (dispatch.pipeline != bound_) vk_.CmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, dispatch.pipeline);
    bound_ = dispatch.pipeline;
    const VkDeviceAddress arguments = table_ + dispatch.arguments;
    vk_.CmdPushConstants(commands_, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof arguments, &arguments);
    vk_.CmdDispatch(commands_, dispatch.blocks[0], dispatch.blocks[1], dispatch.blocks[2]);
  }

  void begin_level() {
    constexpr VkAccessFlags kAll = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
    add_barrier(vk_, commands_, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, kAll, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, kAll);
  }

 private:
  const DeviceFunctions& vk_;
  const VkPipelineLayout layout_;
  const VkCommandBuffer commands_;
  const VkDeviceAddress table_;
  VkPipeline bound_ = VK_NULL_HANDLE;
};

}  // namespace

Recordings::Recordings(std::shared_ptr<Timeline> timeline, CommandBuffers& commands, StreamMemory& memory,
                       HostMemory& host, Completions& completions, bool keeps)
    : timeline_(std::move(timeline)),
      commands_(commands),
      memory_(memory),
      host_(host),
      completions_(completions),
      keeps_(keeps) {}

Recordings::~Recordings() {
  (void)timeline_->wait(timeline_->submitted());
  for (auto& [id, kept] : kept_) {
    for (auto& recording : kept.idle) commands_.give_back(recording.commands);
  }
}

std::size_t Recordings::table_bytes(const VulkanExecutable& program, std::size_t clears) {
  return program.table().bytes + kClearBytes * clears;
}

Result<Recording> Recordings::take(const VulkanExecutable& program, const std::vector<bool>& left_out,
                                   std::size_t clears) {
  const bool once = !keeps_ || !left_out.empty() || clears > 0;
  if (const auto known = kept_.find(program.id()); !once && known != kept_.end()) {
    auto& idle = known->second.idle;
    if (!idle.empty() && (timeline_->is_reached(idle.front().number))) {
      auto recording = std::move(idle.front());
      idle.erase(idle.begin());
      --count_;
      return recording;
    }
  }
  Recording recording;
  BURN_TRY(recording.staging, host_.allocate(table_bytes(program, clears)));
  BURN_TRY(recording.table, memory_.allocate(table_bytes(program, clears)));
  BURN_TRY(recording.commands, commands_.begin(once));
  if (auto status = record(program, left_out, clears, once, recording); !status.ok()) {
    commands_.give_back(recording.commands);
    return status;
  }
  return recording;
}

Status Recordings::record(const VulkanExecutable& program, const std::vector<bool>& left_out, std::size_t clears,
                          bool /*once*/, Recording& recording) {
  auto& device = timeline_->device();
  const auto bytes = table_bytes(program, clears);
  if (bytes > 0) {
    const auto &from = recording.staging->piece(), &to = recording.table->piece();
    const VkBufferCopy copy{.srcOffset = from.offset, .dstOffset = to.offset, .size = bytes};
    device.vk().CmdCopyBuffer(recording.commands, from.page->buffer, to.page->buffer, 1, &copy);
    add_barrier(device.vk(), recording.commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
  }
  Recorder recorder(device, recording.commands, recording.table->address());
  for (std::size_t k = 0; k < clears; ++k)
    recorder.dispatch({.pipeline = program.system_kernel(SystemKernel::clear_marked),
                       .arguments = program.table().bytes + kClearBytes * k});
  if (clears > 0) recorder.begin_level();
  bool is_first = true;
  for (const auto& level : program.levels()) {
    if (!is_first) recorder.begin_level();
    is_first = false;
    for (const auto& dispatch : level) {
      const bool is_left_out = !left_out.empty() && left_out[static_cast<std::size_t>(dispatch.step)];
      if (!is_left_out) recorder.dispatch(dispatch);
    }
  }
  if (const auto* copy = program.report_copy()) {
    recorder.begin_level();
    recorder.dispatch(*copy);
  }
  return commands_.end(recording.commands);
}

Status Recordings::submit(const std::shared_ptr<Executable>& executable, Recording recording, bool is_for_one_run) {
  const auto& program = static_cast<const VulkanExecutable&>(*executable);
  if (auto status = timeline_->submit(recording.commands); !status.ok()) {
    commands_.give_back(recording.commands);
    return status;
  }
  recording.number = timeline_->submitted();
  if (!keeps_ || is_for_one_run) {
    drop(std::move(recording));
    return {};
  }
  std::erase(order_, program.id());
  order_.push_back(program.id());
  auto& kept = kept_[program.id()];
  kept.of = executable;
  if (kept.idle.size() >= kMaxOfOne) {
    drop(std::move(recording));
    return {};
  }
  kept.idle.push_back(std::move(recording));
  if (++count_ > kMax) drop_oldest();
  return {};
}

// What the device may still be at is kept until it is not.
void Recordings::drop(Recording recording) {
  commands_.give_back(recording.commands);
  completions_.add([staging = std::move(recording.staging)](const Status&) {});
}

void Recordings::drop_oldest() {
  auto drop_program = [&](std::uint64_t id) {
    const auto known = kept_.find(id);
    count_ -= known->second.idle.size();
    for (auto& recording : known->second.idle) drop(std::move(recording));
    kept_.erase(known);
  };
  for (auto it = order_.begin(); it != order_.end();) {  // programs that are gone
    if (const auto known = kept_.find(*it); known->second.of.expired()) {
      drop_program(*it);
      it = order_.erase(it);
    } else {
      ++it;
    }
  }
  if (count_ > kMax && !order_.empty()) {
    drop_program(order_.front());
    order_.pop_front();
  }
}

}  // namespace burn::backends::vulkan
