#include "backends/vulkan/runtime/recordings.h"

#include <algorithm>
#include <bit>

#include "backends/vulkan/runtime/recorder.h"

namespace burn::backends::vulkan {

Recordings::Recordings(std::shared_ptr<Timeline> timeline, CommandBuffers& commands, RunTables& tables,
                       Completions& completions, bool keeps)
    : timeline_(std::move(timeline)),
      commands_(commands),
      tables_(tables),
      completions_(completions),
      keeps_(keeps),
      takes_times_(KernelTimes::are_wanted()) {}

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
  // Rounded up, as the number varies between runs of one program with the number of earlier runs in flight.
  if (clears > 0) clears = std::bit_ceil(clears);
  const bool once = !keeps_ || !left_out.empty() || takes_times_;
  if (const auto known = kept_.find(program.id()); !once && known != kept_.end()) {
    auto& idle = known->second.idle;
    const auto found = std::ranges::find(idle, clears, &Recording::clears);
    if (found != idle.end() && timeline_->is_reached(found->number)) {
      auto recording = std::move(*found);
      idle.erase(found);
      --count_;
      return recording;
    }
  }
  Recording recording{.clears = clears};
  BURN_TRY(recording.table, tables_.allocate(table_bytes(program, clears)));
  BURN_TRY(recording.commands, commands_.begin(once));
  if (takes_times_) {
    BURN_TRY(recording.times, RecordedTimes::make(timeline_->device(), program.dispatches()));
  }
  if (auto status = record(program, left_out, clears, recording); !status.ok()) {
    commands_.give_back(recording.commands);
    return status;
  }
  return recording;
}

Status Recordings::record(const VulkanExecutable& program, const std::vector<bool>& left_out, std::size_t clears,
                          const Recording& recording) {
  Recorder recorder(timeline_->device(), recording.commands, recording.table.address(), recording.times.get());
  recorder.copy_table(recording.table, table_bytes(program, clears));
  recorder.clear_words(program, clears);
  recorder.add_levels(program, program.parts()[0].levels, left_out);
  recorder.copy_reports(program);
  return commands_.end(recording.commands, program.findings() > 0);
}

Status Recordings::submit(const std::shared_ptr<Executable>& executable, Recording recording, bool is_for_one_run,
                          Await after) {
  const auto& program = static_cast<const VulkanExecutable&>(*executable);
  if (auto status = timeline_->submit(recording.commands, std::move(after)); !status.ok()) {
    commands_.give_back(recording.commands);
    return status;
  }
  recording.number = timeline_->submitted();
  if (!keeps_ || is_for_one_run || takes_times_) {
    drop(std::move(recording));
    return {};
  }
  std::erase(order_, program.id());
  order_.push_back(program.id());
  auto& kept = kept_[program.id()];
  kept.of = executable;
  kept.idle.push_back(std::move(recording));
  if (kept.idle.size() > kMaxPerProgram) {
    drop(std::move(kept.idle.front()));
    kept.idle.erase(kept.idle.begin());
  } else if (++count_ > kMax) {
    drop_oldest();
  }
  return {};
}

// Keeps what the device may still use until it is done.
void Recordings::drop(Recording recording) {
  commands_.give_back(recording.commands);
  completions_.add([table = std::move(recording.table), times = std::move(recording.times)](const Status& device) {
    if (times && device.ok()) times->collect();
  });
}

void Recordings::drop_oldest() {
  auto drop_program = [&](std::uint64_t id) {
    const auto known = kept_.find(id);
    count_ -= known->second.idle.size();
    for (auto& recording : known->second.idle) drop(std::move(recording));
    kept_.erase(known);
  };
  for (auto it = order_.begin(); it != order_.end();) {  // programs that no longer exist
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
