#include "backends/cpu/cpu_backend.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/executable.h"

namespace burn::backends {
namespace cpu {
namespace {

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(const Pool::Config& config) : pool_(std::make_shared<Pool>(config)) {}

  std::string_view name() const override { return "cpu"; }
  Limits limits() const override {
    return {.max_buffer_bytes = pool_->config().limit, .memory_bytes = pool_->config().limit};
  }
  MemoryStats memory() const override { return pool_->stats(); }

  // Every op on every type that the shape rules let through.
  Status supports(const ir::Op& op, std::span<const ir::TensorType* const> operands) const override {
    return ir::infer(op, operands).status();
  }

  Result<BufferPtr> allocate(std::size_t bytes) override {
    BURN_TRY(auto buffer, pool_->allocate(bytes));
    return BufferPtr(std::move(buffer));
  }

  Status upload(Buffer& buffer, std::span<const std::byte> bytes) override {
    if (!bytes.empty()) std::memcpy(static_cast<CpuBuffer&>(buffer).data(), bytes.data(), bytes.size());
    return {};
  }

  Result<SharedBytes> download(const BufferPtr& buffer, std::size_t bytes) override {
    if (bytes > buffer->size()) return invalid_argument("download: more bytes than the buffer has");
    return SharedBytes(buffer, {static_cast<CpuBuffer&>(*buffer).data(), bytes});
  }

  Result<std::unique_ptr<Executable>> compile(std::shared_ptr<const ir::Program> program) override {
    BURN_TRY(auto executable, CpuExecutable::make(std::move(program), pool_));
    return std::unique_ptr<Executable>(std::move(executable));
  }

  Status synchronize() override { return {}; }  // a run is done when it returns

  std::uint64_t trim(std::uint64_t keep, std::chrono::milliseconds unused_for) override {
    return pool_->trim(keep, unused_for);
  }

 private:
  std::shared_ptr<Pool> pool_;
};

}  // namespace
}  // namespace cpu

Result<std::unique_ptr<Backend>> open_cpu_backend(const cpu::Pool::Config& config) {
  return std::unique_ptr<Backend>(std::make_unique<cpu::CpuBackend>(config));
}

}  // namespace burn::backends
