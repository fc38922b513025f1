// A stream of the CPU: every call is done when it returns, and callbacks are called from within it.
#pragma once

#include <memory>

#include "backends/cpu/runtime/memory.h"
#include "backends/detached_work.h"
#include "backends/interrupt.h"

namespace burn::backends::cpu {

// A staging block that already is a buffer.
class CpuBlock final : public HostBlock {
 public:
  explicit CpuBlock(CpuBufferPtr buffer) : buffer_(std::move(buffer)) {}
  std::span<std::byte> bytes() override { return {buffer_->data(), buffer_->size()}; }
  const CpuBufferPtr& buffer() const { return buffer_; }

 private:
  const CpuBufferPtr buffer_;
};

class CpuStream final : public Stream {
 public:
  explicit CpuStream(std::shared_ptr<Pool> pool) : pool_(std::move(pool)) {}

  Result<BufferPtr> upload(SharedBytes bytes) override;
  Result<BufferPtr> upload(HostBlockPtr block) override;                        // returns the block's own buffer
  void download(BufferPtr buffer, std::size_t size, Downloaded done) override;  // passes on a view
  Result<BufferPtr> clone(const BufferPtr& buffer) override;
  Result<RunResult> run(const std::shared_ptr<Executable>& executable, RunArgs args) override;
  void synchronize(Done done) override { done({}); }
  void interrupt() override { interrupt_.request(); }

 private:
  Result<BufferPtr> copy_of(std::span<const std::byte> bytes);

  const std::shared_ptr<Pool> pool_;
  const std::shared_ptr<AbandonedWork> abandoned_work_ = std::make_shared<AbandonedWork>();
  Interrupt interrupt_;
};

}  // namespace burn::backends::cpu
