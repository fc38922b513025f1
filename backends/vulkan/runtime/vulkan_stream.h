// A stream of a Vulkan device: enqueues commands, and reports completions from a thread of its own.
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
  // `written`: device memory that the host writes; null: there is none.
  static Result<std::unique_ptr<VulkanStream>> open(std::shared_ptr<Device> device, std::shared_ptr<HostMemory> host,
                                                    std::shared_ptr<HostMemory> written, FailureSink sink);
  ~VulkanStream() override;

  Result<BufferPtr> upload(SharedBytes bytes) override;
  Result<BufferPtr> upload(HostBlockPtr block) override;
  void download(BufferPtr buffer, std::size_t size, Downloaded done) override;
  Result<BufferPtr> clone(const BufferPtr& buffer) override;
  Result<RunResult> run(const std::shared_ptr<Executable>& executable, RunArgs args) override;
  void synchronize(Done done) override;
  // Refuses later runs. Enqueued work is finished all the same, except a run that waits for a group, which ends.
  void interrupt() override { interrupt_.request(); }

 private:
  VulkanStream(std::shared_ptr<Timeline> timeline, std::unique_ptr<CommandBuffers> commands,
               std::shared_ptr<HostMemory> host, std::shared_ptr<HostMemory> written, FailureSink sink);

  // Errors: why nothing was enqueued; the arguments are unchanged, or have stand-ins for inputs that failed.
  Result<RunResult> try_run(const std::shared_ptr<Executable>& executable, RunArgs& args);
  // Enqueues the commands of a run, and sets the result's outputs and the checks that they depend on.
  Status enqueue_run(const std::shared_ptr<Executable>& executable, const RunArgs& args,
                     const std::vector<BufferPtr>& outputs, const std::vector<bool>& left_out, RunResult& result);
  // Replaces inputs that failed by buffers of zeros.
  Status replace_failed_inputs(const VulkanExecutable& program, RunArgs& args);
  Status copy(const Piece& from, const Piece& to, std::size_t bytes, bool host_reads, Await after = {});
  // The point that commands which read these buffers must wait for.
  Await uploads_of(std::span<const BufferPtr> buffers) const { return uploads_ ? uploads_->of(buffers) : Await{}; }

  // The words of the bindings, with those of Commits that depend on reports of runs which the device has not done yet:
  // the records that clear such words (their offset in the bindings), and the reports, which are kept until the run is
  // done.
  struct Commits {
    std::vector<std::uint64_t> words;  // all of the bindings
    std::vector<WordToClear> clears;
    std::vector<HostBlockPtr> reports;
  };
  static Commits bind(const VulkanExecutable& program, const RunArgs& args);
  // Writes a run's table (TableLayout), followed by `clears` records of words to clear, the last one repeated as
  // needed. `found`: where checks report; null: there are no checks.
  void write_table(const VulkanExecutable& program, const RunArgs& args, const std::vector<BufferPtr>& outputs,
                   const Commits& bound, const SharedBlock* found, const RunTable& table, std::size_t clears);
  // Enqueues a run. `found`: where its checks report; null: there are none.
  Status launch(const std::shared_ptr<Executable>& executable, const RunArgs& args,
                const std::vector<BufferPtr>& outputs, SharedBlock* found, const std::vector<bool>& left_out);

  // Executes a run with collectives, which the host performs between its parts, waiting for the device before each. If
  // one fails, all outputs fail. Errors: why the run ended before it began; other members do not wait for it then.
  Status launch_in_groups(const VulkanExecutable& program, const RunArgs& args, RunResult& result,
                          const std::vector<BufferPtr>& outputs, SharedBlock* found);
  struct GroupRun;
  // Enqueues a part of the run, and waits until the operand of its collective is in host memory. Returns that memory;
  // null: the part has no collective.
  Result<std::shared_ptr<SharedBlock>> enqueue_part(const GroupRun& run, std::size_t part);
  // Takes part, as failed, in all collectives of a program that is not run, so that no other member waits.
  void take_part_as_failed(const VulkanExecutable& program, const RunArgs& args, const Status& why);
  // Records a copy with barriers: after everything recorded before, and visible to everything recorded later.
  void copy_with_barriers(VkCommandBuffer commands, const Piece& from, const Piece& to, std::uint64_t bytes) const;
  // The memory at an address of a run.
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
  std::unique_ptr<Uploads> uploads_;  // null: no upload was copied on the copy queue yet
  RunTables tables_;
  std::vector<std::byte> table_;  // table of the run that is being enqueued
  std::unique_ptr<Recordings> recordings_;
};

}  // namespace burn::backends::vulkan
