#include "backends/vulkan/runtime/trial.h"

#include "backends/vulkan/device/kernel_times.h"
#include "backends/vulkan/device/pipelines.h"
#include "backends/vulkan/runtime/recorder.h"

namespace burn::backends::vulkan {

// Dispatches and the table of their arguments.
struct Trial::Prepared {
  std::vector<Dispatch> dispatches;
  std::size_t table_bytes = 0;
  std::shared_ptr<SharedBlock> staging;
  Block table;
};

Trial::Trial(std::shared_ptr<Device> device, std::shared_ptr<Timeline> timeline,
             std::unique_ptr<CommandBuffers> commands)
    : device_(std::move(device)),
      timeline_(std::move(timeline)),
      commands_(std::move(commands)),
      host_(std::make_shared<HostMemory>(device_)) {}

Result<std::unique_ptr<Trial>> Trial::open(std::shared_ptr<Device> device, std::span<const std::size_t> sizes) {
  BURN_TRY(auto timeline, Timeline::open(device));
  BURN_TRY(auto commands, CommandBuffers::open(timeline));
  std::unique_ptr<Trial> trial(new Trial(std::move(device), std::move(timeline), std::move(commands)));
  for (const auto bytes : sizes) {
    BURN_TRY(auto block, trial->allocate(bytes));
    trial->blocks_.push_back(std::move(block));
  }
  BURN_RETURN_IF_ERROR(trial->fill());
  return trial;
}

Result<Trial::Block> Trial::allocate(std::size_t bytes) {
  auto& pages = device_->memory();
  BURN_TRY(const auto piece, pages.take(bytes));
  return Block(pages, piece);
}

Status Trial::fill() {
  constexpr std::uint32_t kNumbers = 0x3c3c3c3c;  // about 0.01 in f32 and bf16, about 1 in f16
  return run([&](VkCommandBuffer commands) {
    for (const auto& block : blocks_) {
      const auto& piece = *block;
      device_->vk().CmdFillBuffer(commands, piece.page->buffer, piece.offset, piece.bytes, kNumbers);
    }
  });
}

Status Trial::run(const std::function<void(VkCommandBuffer)>& record) {
  BURN_TRY(auto* const commands, commands_->begin(true));
  record(commands);
  auto status = commands_->end(commands, false);
  if (status.ok()) status = timeline_->submit(commands);
  commands_->give_back(commands);
  BURN_RETURN_IF_ERROR(status);
  return timeline_->wait(timeline_->submitted());
}

Result<double> Trial::elapsed(const Prepared& prepared, int rounds) {
  BURN_TRY(const auto times, RecordedTimes::make(*device_, 1));
  BURN_RETURN_IF_ERROR(run([&](VkCommandBuffer commands) {
    Recorder recorder(*device_, commands, (*prepared.table).address());
    recorder.copy_table(prepared.staging->piece(), *prepared.table, prepared.table_bytes);
    times->begin(commands);
    for (int round = 0; round < rounds; ++round) {
      for (const auto& dispatch : prepared.dispatches) {
        recorder.dispatch(dispatch);
        recorder.end_level();
      }
    }
    times->mark(commands, {});
  }));
  BURN_TRY(const auto all, times->microseconds());
  return 1e-6 * all[0];
}

Result<double> Trial::seconds(const compile::TrialEmitter& what, std::size_t operands, std::size_t results) {
  constexpr double kLong = 200e-6;
  constexpr int kTimes = 16;
  BURN_TRY(const auto kernels, device_->pipelines().of(what.sources()));
  DispatchTable table(*device_);
  BURN_RETURN_IF_ERROR(table.open());
  std::vector<Dispatch> dispatches;
  dispatches.reserve(what.commands().size());
  for (const auto& command : what.commands()) {
    BURN_TRY(const auto dispatch, table.add(command, kernels));
    dispatches.push_back(dispatch);
  }
  if (!table.too_large().empty()) return table.too_large()[0].second;
  if (dispatches.empty()) return 0.0;
  std::vector<compile::DeviceAddress> addresses;
  addresses.reserve(blocks_.size());
  for (const auto& block : blocks_) addresses.push_back((*block).address());
  compile::Bindings at;
  at.inputs = std::span(addresses).first(operands);
  at.outputs = std::span(addresses).subspan(operands, results);
  at.blocks = what.scratch_offsets();
  at.arena = addresses.back();
  BURN_TRY(auto staging, host_->allocate(table.bytes()));
  BURN_TRY(auto in_device, allocate(table.bytes()));
  table.write(at, staging->bytes().data());
  const Prepared prepared{std::move(dispatches), table.bytes(), std::move(staging), std::move(in_device)};

  BURN_RETURN_IF_ERROR(elapsed(prepared, 1).status());  // untimed: drivers load kernels at their first use
  BURN_TRY(const double once, elapsed(prepared, 1));
  if (once > kLong) return once;
  BURN_TRY(const double together, elapsed(prepared, kTimes));
  return together / kTimes;
}

}  // namespace burn::backends::vulkan
