// A stream of a Vulkan device: enqueues, and answers from a thread of its own.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backends/interrupt.h"
#include "backends/vulkan/device/host_memory.h"
#include "backends/vulkan/device/memory.h"
#include "backends/vulkan/runtime/arena.h"
#include "backends/vulkan/runtime/command_buffers.h"
#include "backends/vulkan/runtime/completions.h"
#include "backends/vulkan/runtime/recordings.h"
#include "backends/vulkan/runtime/uploads.h"
#include "backends/vulkan/runtime/vulkan_executable.h"

namespace burn::backends::vulkan {

class VulkanStream final : public Stream {
 public:
  // `written`: memory of the device that the host writes; null: there is none.
  static Result<std::unique_ptr<VulkanStream>> open(std::shared_ptr<Device> device, std::shared_ptr<HostMemory> host,
                                                    std::shared_ptr<HostMemory> written, FailureSink sink);
  ~VulkanStream() override;

  Result<BufferPtr> upload(SharedBytes bytes) override;
  Result<BufferPtr> upload(HostBlockPtr block) override;
  void download(BufferPtr buffer, std::size_t size, Downloaded done) override;
  Result<BufferPtr> clone(const BufferPtr& buffer) override;
  Result<RunResult> run(const std::shared_ptr<Executable>& executable, RunArgs args) override;
  void synchronize(Done done) override;
  // What has been enqueued is done all the same: a run is refused, not ended, unless it waits for a group.
  void interrupt() override { interrupt_.request(); }

 private:
  VulkanStream(std::shared_ptr<Timeline> timeline, std::unique_ptr<CommandBuffers> commands,
               std::shared_ptr<HostMemory> host, std::shared_ptr<HostMemory> written, FailureSink sink);

  // Errors: why nothing was enqueued; the arguments have what they had, or stand-ins for inputs that failed.
  Result<RunResult> try_run(const std::shared_ptr<Executable>& executable, RunArgs& args);
  // Its commands, and the result's outputs with what their checks will have found.
  Status enqueue_run(const std::shared_ptr<Executable>& executable, const RunArgs& args,
                     const std::vector<BufferPtr>& outputs, const std::vector<bool>& left_out, RunResult& result);
  // Fills in what inputs that failed would have been.
  Status stand_in_for_failed(const VulkanExecutable& program, RunArgs& args);
  Status copy(const Piece& from, const Piece& to, std::size_t bytes, bool host_reads, Await after = {});
  // What commands wait for that read these.
  Await uploads_of(std::span<const BufferPtr> buffers) const { return uploads_ ? uploads_->of(buffers) : Await{}; }

  // Words of Commits that depend on reports of runs which the device has not done yet: what clears them (the word as an
  // offset in the bindings), and the reports, which are kept until it is done.
  struct Commits {
    std::vector<std::uint64_t> words;  // all of the bindings
    std::vector<Clear> clears;
    std::vector<HostBlockPtr> reports;
  };
  static Commits bind(const VulkanExecutable& program, const RunArgs& args);
  // Writes a run's table (TableLayout), and behind it `clears` records of words to clear, the last of them repeated.
  // `found`: where checks report; null: nowhere.
  void write_table(const VulkanExecutable& program, const RunArgs& args, const std::vector<BufferPtr>& outputs,
                   const Commits& bound, const SharedBlock* found, const RunTable& table, std::size_t clears);
  // Enqueues a run. `found`: where its checks report, null where there are none.
  Status launch(const std::shared_ptr<Executable>& executable, const RunArgs& args,
                const std::vector<BufferPtr>& outputs, SharedBlock* found, const std::vector<bool>& left_out);

  // A run with collectives, which the host performs between its parts: waits for the device before each. Where one
  // fails, all outputs do. Errors: why the run ended before it began; others do not wait for it then.
  Status launch_in_groups(const VulkanExecutable& program, const RunArgs& args, RunResult& result,
                          const std::vector<BufferPtr>& outputs, SharedBlock* found);
  struct GroupRun;
  // Enqueues a part of it, and waits until the operand of the part's collective is in host memory, which it returns;
  // null: no collective follows.
  Result<std::shared_ptr<SharedBlock>> enqueue_part(const GroupRun& run, std::size_t part);
  // Takes part in all collectives of a program that is not run, so that no other member waits.
  void take_part_without(const VulkanExecutable& program, const RunArgs& args, const Status& why);
  // A copy after what was recorded before, which what is recorded later sees.
  void copy_beside(VkCommandBuffer commands, const Piece& from, const Piece& to, std::uint64_t bytes) const;
  // Where an address lies in a run.
  Piece piece_of(const VulkanExecutable& program, const RunArgs& args, const std::vector<BufferPtr>& outputs,
                 const compile::Address& address) const;

  const std::shared_ptr<Timeline> timeline_;
  const std::shared_ptr<HostMemory> host_;
  const FailureSink sink_;
  const std::shared_ptr<StreamMemory> memory_;
  const std::unique_ptr<CommandBuffers> commands_;
  Arena arena_;
  Interrupt interrupt_;
  Completions completions_;
  std::unique_ptr<Uploads> uploads_;  // null: nothing was copied beside the computation yet
  RunTables tables_;
  std::vector<std::byte> table_;  // of the run that is being enqueued
  std::unique_ptr<Recordings> recordings_;
};

}  // namespace burn::backends::vulkan
