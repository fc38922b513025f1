// A stream of a CUDA device: enqueues commands, and reports completions from a thread of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "backends/cuda/device/device.h"
#include "backends/cuda/device/uploads.h"
#include "backends/cuda/driver/pinned.h"
#include "backends/cuda/graphs/graphs.h"
#include "backends/cuda/runtime/completions.h"
#include "backends/cuda/runtime/cuda_executable.h"
#include "backends/cuda/runtime/run_in_groups.h"
#include "backends/cuda/runtime/side_stream.h"
#include "backends/gpu/outcome.h"

namespace burn::backends::cuda {

// Counters of all streams of a device, for metrics.
struct GraphCounters {
  std::atomic<std::uint64_t> captures = 0, launches = 0;
};

class CudaStream final : public Stream {
 public:
  static Result<std::unique_ptr<CudaStream>> open(std::shared_ptr<Device> device, std::shared_ptr<PinnedPool> pinned,
                                                  FailureSink sink, std::shared_ptr<GraphCounters> counters);
  ~CudaStream() override;

  Result<BufferPtr> upload(SharedBytes bytes) override;
  Result<BufferPtr> upload(HostBlockPtr block) override;
  void download(BufferPtr buffer, std::size_t size, Downloaded done) override;
  Result<BufferPtr> clone(const BufferPtr& buffer) override;
  Result<RunResult> run(const std::shared_ptr<Executable>& executable, RunArgs args) override;
  void synchronize(Done done) override;
  void observe(Done done) override;
  // Refuses later runs; launched work is finished all the same.
  void interrupt() override { interrupted_.store(true, std::memory_order_relaxed); }

 private:
  CudaStream(std::shared_ptr<Device> device, std::shared_ptr<PinnedPool> pinned, FailureSink sink, CUstream stream,
             std::shared_ptr<Events> events, std::unique_ptr<Uploads> uploads, std::shared_ptr<GraphCounters> counters);

  // Errors: why nothing was enqueued; the arguments are unchanged, or have stand-ins for inputs that failed.
  Result<RunResult> try_run(const std::shared_ptr<Executable>& executable, RunArgs& args);
  // Must be called before commands that use these buffers are enqueued.
  Status begin_use(std::span<const BufferPtr> buffers);
  bool is_own(const CudaBuffer& buffer) const {
    return buffer.memory() == memory_.get() || (uploads_ && uploads_->owns(buffer));
  }

  // Memory that all runs use in turn: it grows to the need of the largest program.
  struct Region {
    CudaBufferPtr buffer;
    bool is_zero = false;  // whether it is zero once all enqueued work is done; set by the run that uses it
    Result<CUdeviceptr> at_least(StreamMemory& memory, std::size_t bytes);
  };

  // Replaces inputs that failed by buffers of zeros.
  Status replace_failed_inputs(const CudaExecutable& executable, RunArgs& args);
  Result<RunMemory> memory_of_run(const CudaExecutable& executable, const RunArgs& args,
                                  const std::vector<BufferPtr>& outputs, CUdeviceptr arena);
  // The data of a run besides its buffers.
  struct Bound {
    std::vector<std::uint64_t> words;  // the bindings, as the device reads them
    // For words of Commits that depend on reports of runs which the device has not done yet: the transfers that clear
    // such words, and the reports that they read.
    Transfers clears;
    std::vector<HostBlockPtr> reports;
  };
  static Bound bind(const CudaExecutable& executable, const RunArgs& args, CUdeviceptr bindings);
  static void bind_commit(Bound& bound, const LoweredCommit& commit, const RunArgs& args, std::size_t word,
                          CUdeviceptr bindings);
  // Enqueues a run: its bindings, the program's commands, and a copy of what its checks found to `found`.
  Status launch(const CudaExecutable& executable, const RunArgs& args, const RunMemory& memory, CUdeviceptr found,
                const std::vector<bool>& left_out);
  // Enqueues the program's commands.
  Status enqueue(const CudaExecutable& executable, const RunMemory& memory, const std::vector<bool>& left_out);
  // The graph for a run; null: its commands are enqueued one by one.
  Result<CapturedRun*> graph_for(const CudaExecutable& executable, const RunMemory& memory);
  Status capture(const CudaExecutable& executable, CapturedRun& run);
  // `found`: pinned memory, which the device writes; `in_groups`: null if the run has no collectives.
  void watch_checks(const std::shared_ptr<Executable>& executable, const RunArgs& args, RunResult& result,
                    std::shared_ptr<PinnedBlock> found, std::shared_ptr<RunInGroups> in_groups);

  const std::shared_ptr<Device> device_;
  const std::shared_ptr<PinnedPool> pinned_;
  const FailureSink sink_;
  const CUstream stream_;
  const std::shared_ptr<StreamMemory> memory_;
  Region arena_, bindings_, failures_;
  Graphs graphs_;
  const std::shared_ptr<GraphCounters> counters_;
  Kernel transfer_kernel_;  // the kernel of Transfers; compiled for the first run
  const bool uses_graphs_, uses_branches_, times_branches_;
  const std::unique_ptr<Uploads> uploads_;  // null: uploads are copied in order with the computation
  std::unique_ptr<SideStream> side_;        // opened by the first run with collectives
  std::atomic<bool> interrupted_ = false;
  Completions completions_;
};

}  // namespace burn::backends::cuda
