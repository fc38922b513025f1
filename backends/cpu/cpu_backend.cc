#include "backends/cpu/cpu_backend.h"

#include "backends/cpu/cpu_stream.h"
#include "backends/cpu/executable.h"
#include "backends/cpu/kernels/library_caches.h"
#include "backends/cpu/simd/isa.h"
#include "backends/free_memory.h"
#include "base/free_memory.h"

namespace burn::backends {
namespace cpu {
namespace {

class CpuBackend final : public Backend, public KnowsFreeMemory {
 public:
  explicit CpuBackend(const Pool::Config& config) : pool_(std::make_shared<Pool>(config)) {}

  std::string_view name() const override { return "cpu"; }
  Limits limits() const override {
    return {.max_buffer_bytes = pool_->config().limit, .memory_bytes = pool_->config().limit};
  }
  MemoryStats memory() const override { return pool_->stats(); }
  std::optional<std::uint64_t> free_memory() const override { return burn::free_memory(); }

  // All ops on all types that the shape rules accept.
  Status supports(const ir::Op&, std::span<const ir::TensorType* const>) const override { return {}; }

  Result<HostBlockPtr> host_block(std::size_t bytes) override {
    BURN_TRY(auto buffer, pool_->allocate(bytes));
    return HostBlockPtr(std::make_shared<CpuBlock>(std::move(buffer)));
  }

  Result<std::unique_ptr<Executable>> compile(std::shared_ptr<const ir::Program> program) override {
    BURN_TRY(auto executable, CpuExecutable::make(std::move(program), pool_));
    return std::unique_ptr<Executable>(std::move(executable));
  }

  Result<std::unique_ptr<Stream>> open_stream(FailureSink) override {  // run() knows all failures when it returns
    return std::unique_ptr<Stream>(std::make_unique<CpuStream>(pool_));
  }

  std::uint64_t trim(std::uint64_t keep, std::chrono::milliseconds unused_for) override {
    if (unused_for.count() == 0) drop_library_caches();
    return pool_->trim(keep, unused_for);
  }

  Status take_host(std::uint64_t bytes) override {
    BURN_RETURN_IF_ERROR(pool_->charge_external(bytes));
    host_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    return {};
  }
  void give_host(std::uint64_t bytes) override {
    pool_->release_external(bytes);
    Backend::give_host(bytes);
  }

 private:
  std::shared_ptr<Pool> pool_;
};

}  // namespace
}  // namespace cpu

Result<std::unique_ptr<Backend>> open_cpu_backend(const cpu::Pool::Config& config) {
  BURN_RETURN_IF_ERROR(cpu::check_level());
  return std::unique_ptr<Backend>(std::make_unique<cpu::CpuBackend>(config));
}

}  // namespace burn::backends
