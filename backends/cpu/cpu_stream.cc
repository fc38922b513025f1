#include "backends/cpu/cpu_stream.h"

#include <cstring>

#include <fmt/format.h>

#include "backends/cpu/executable.h"
#include "backends/failures.h"

namespace burn::backends::cpu {

Result<BufferPtr> CpuStream::copy_of(std::span<const std::byte> bytes) {
  BURN_TRY(auto buffer, pool_->allocate(bytes.size()));
  if (!bytes.empty()) std::memcpy(buffer->data(), bytes.data(), bytes.size());
  return BufferPtr(std::move(buffer));
}

Result<BufferPtr> CpuStream::upload(SharedBytes bytes) { return copy_of(bytes.span()); }

Result<BufferPtr> CpuStream::upload(HostBlockPtr block) {
  if (const auto* own = dynamic_cast<CpuBlock*>(block.get())) return BufferPtr(own->buffer());
  return copy_of(block->bytes());
}

void CpuStream::download(BufferPtr buffer, std::size_t size, Downloaded done) {
  if (size > buffer->size()) {
    const auto status = invalid_argument(fmt::format("download: {} bytes of a buffer of {}", size, buffer->size()));
    return done({}, std::make_shared<const Status>(status));
  }
  const std::span bytes(static_cast<CpuBuffer&>(*buffer).data(), size);
  done(SharedBytes(std::move(buffer), bytes), nullptr);
}

Result<BufferPtr> CpuStream::clone(const BufferPtr& buffer) {
  return copy_of({static_cast<CpuBuffer&>(*buffer).data(), buffer->size()});
}

Result<RunResult> CpuStream::run(const std::shared_ptr<Executable>& executable, RunArgs args) {
  const auto program = args.program;
  const auto known = args.failures;
  interrupt_.begin_run(args.time_limit);
  auto result =
      static_cast<CpuExecutable&>(*executable).run(std::move(args), interrupt_, {executable, abandoned_work_});
  if (result.ok()) name_failures(*result, known, program);
  return result;
}

}  // namespace burn::backends::cpu
