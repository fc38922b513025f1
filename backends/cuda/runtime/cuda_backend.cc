#include "backends/cuda/runtime/cuda_backend.h"

#include <cstddef>
#include <cstdint>
#include <mutex>

#include <fmt/format.h>

#include "backends/cuda/device/libraries.h"
#include "backends/cuda/libraries/nccl_group.h"
#include "backends/cuda/lower/attention.h"
#include "backends/cuda/runtime/cuda_stream.h"
#include "backends/free_memory.h"
#include "backends/graph_counts.h"

namespace burn::backends::cuda {
namespace {

class CudaBackend final : public Backend, public CountsGraphs, public KnowsFreeMemory {
 public:
  explicit CudaBackend(std::shared_ptr<Device> device)
      : device_(std::move(device)),
        pinned_(std::make_shared<PinnedPool>(device_->context())),
        name_(device_->index() == 0 ? "cuda" : fmt::format("cuda:{}", device_->index())) {}

  std::string_view name() const override { return name_; }
  bool computes_on_host() const override { return false; }
  Limits limits() const override {
    return {.max_buffer_bytes = device_->total_bytes(), .memory_bytes = device_->total_bytes()};
  }

  MemoryStats memory() const override {
    const auto& account = device_->memory()->account();
    return {account.in_use, account.reserved, account.peak};
  }

  // All ops except those that are computed by other ops: attention that cuDNN does not support, by products and a
  // softmax; Fourier transforms without cuFFT, by products; determinants, by factorisations.
  Status supports(const ir::Op& op, std::span<const ir::TensorType* const> operands) const override {
    if (const auto* forward = std::get_if<ir::Attention>(&op)) return supports_attention(*device_, *forward, operands);
    if (const auto* grad = std::get_if<ir::AttentionGrad>(&op)) return supports_attention(*device_, *grad, operands);
    if (std::holds_alternative<ir::Fft>(op) || std::holds_alternative<ir::RealFft>(op) ||
        std::holds_alternative<ir::InverseRealFft>(op)) {
      if (const auto library = cufft_of(*device_); !library.ok())
        return unimplemented(fmt::format("CUDA: {}: {}", ir::name(op), library.status().message()));
    }
    if (ir::is_collective(op)) {
      if (const auto library = nccl(); !library.ok()) return library.status().with_context(ir::name(op));
    }
    if (std::holds_alternative<ir::Det>(op)) return unimplemented(fmt::format("CUDA: {} has no kernel", ir::name(op)));
    return {};
  }

  Result<HostBlockPtr> host_block(std::size_t bytes) override {
    BURN_TRY(auto block, pinned_->allocate(bytes));
    return HostBlockPtr(std::move(block));
  }

  Result<std::unique_ptr<Executable>> compile(std::shared_ptr<const ir::Program> program) override {
    device_->make_current();
    BURN_TRY(auto executable, CudaExecutable::make(*program, device_));
    return std::unique_ptr<Executable>(std::move(executable));
  }

  Result<std::unique_ptr<Stream>> open_stream(FailureSink sink) override {
    BURN_TRY(auto stream, CudaStream::open(device_, pinned_, std::move(sink), graphs_));
    return std::unique_ptr<Stream>(std::move(stream));
  }

  // A failed kernel (an invalid address, a hardware error) breaks the context: from then on every call returns that
  // error, as long as the process lives. The driver is queried only after a call has failed, as a query may have to
  // wait for it.
  Status health() const override {
    const std::lock_guard lock{health_mutex_};
    if (failed_calls() == failed_when_asked_) return health_;
    device_->make_current();
    std::size_t free = 0, total = 0;
    health_ = check(driver().cuMemGetInfo(&free, &total), "using the device");
    failed_when_asked_ = failed_calls();
    return health_;
  }

  Result<std::shared_ptr<Collective>> join_group(std::shared_ptr<Collective> links,
                                                 std::chrono::milliseconds deadline) override {
    const auto make_current = [device = device_] { device->make_current(); };
    BURN_TRY(auto group, NcclGroup::join(nccl(), std::move(links), make_current, deadline));
    return std::shared_ptr<Collective>(std::move(group));
  }

  GraphCounts graph_counts() const override {
    return {graphs_->captures.load(std::memory_order_relaxed), graphs_->launches.load(std::memory_order_relaxed)};
  }

  std::optional<std::uint64_t> free_memory() const override {
    device_->make_current();
    std::size_t free = 0, total = 0;
    if (!check(driver().cuMemGetInfo(&free, &total), "cuMemGetInfo").ok()) return std::nullopt;
    return free;
  }

  std::uint64_t trim(std::uint64_t keep, std::chrono::milliseconds unused_for) override {
    return device_->memory()->trim(keep, unused_for);
  }

 private:
  const std::shared_ptr<Device> device_;
  const std::shared_ptr<PinnedPool> pinned_;
  const std::string name_;
  const std::shared_ptr<GraphCounters> graphs_ = std::make_shared<GraphCounters>();
  mutable std::mutex health_mutex_;
  mutable Status health_;                        // Guarded by `health_mutex_`.
  mutable std::uint64_t failed_when_asked_ = 0;  // Guarded by `health_mutex_`.
};

}  // namespace

Result<std::unique_ptr<Backend>> open_cuda_backend(int index) {
  BURN_TRY(auto device, Device::open(index));
  return std::unique_ptr<Backend>(std::make_unique<CudaBackend>(std::move(device)));
}

}  // namespace burn::backends::cuda
