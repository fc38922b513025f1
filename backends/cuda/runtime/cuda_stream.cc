#include "backends/cuda/runtime/cuda_stream.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/settings.h"

namespace burn::backends::cuda {

Result<std::unique_ptr<CudaStream>> CudaStream::open(std::shared_ptr<Device> device, std::shared_ptr<PinnedPool> pinned,
                                                     FailureSink sink, std::shared_ptr<GraphCounters> counters) {
  device->make_current();
  CUstream stream = nullptr;
  BURN_RETURN_IF_ERROR(
      check(driver().cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0), "cuStreamCreate"));
  auto events = std::make_shared<Events>(device->context());
  std::unique_ptr<Uploads> uploads;
  if (!is_off(Setting::copy_stream)) {
    BURN_TRY(uploads, Uploads::open(*device, events, stream));
  }
  return std::unique_ptr<CudaStream>(new CudaStream(std::move(device), std::move(pinned), std::move(sink), stream,
                                                    std::move(events), std::move(uploads), std::move(counters)));
}

CudaStream::CudaStream(std::shared_ptr<Device> device, std::shared_ptr<PinnedPool> pinned, FailureSink sink,
                       CUstream stream, std::shared_ptr<Events> events, std::unique_ptr<Uploads> uploads,
                       std::shared_ptr<GraphCounters> counters)
    : device_(std::move(device)),
      pinned_(std::move(pinned)),
      sink_(std::move(sink)),
      stream_(stream),
      memory_(device_->memory()->open_stream()),
      graphs_(*memory_),
      counters_(std::move(counters)),
      uses_graphs_(!is_off(Setting::graphs)),
      uses_branches_(!is_off(Setting::graph_branches)),
      times_branches_(!is_on(Setting::graph_branches)),
      uploads_(std::move(uploads)),
      completions_(device_->context(), stream, std::move(events)) {}

CudaStream::~CudaStream() {
  device_->make_current();
  driver().cuStreamSynchronize(stream_);
  graphs_.clear();
  side_ = nullptr;
  arena_.buffer = bindings_.buffer = failures_.buffer = nullptr;
  memory_->close();
  driver().cuStreamDestroy(stream_);
}

// --- bytes -----------------------------------------------------------------------------------------------------------

Result<BufferPtr> CudaStream::upload(SharedBytes bytes) {
  BURN_TRY(auto block, pinned_->allocate(bytes.size()));
  if (!bytes.empty()) std::memcpy(block->bytes().data(), bytes.data(), bytes.size());
  return upload(HostBlockPtr(std::move(block)));
}

Result<BufferPtr> CudaStream::upload(HostBlockPtr block) {
  const auto bytes = block->bytes();
  if (!dynamic_cast<PinnedBlock*>(block.get())) return upload(SharedBytes(block, bytes));
  device_->make_current();
  if (uploads_) {
    BURN_TRY(auto copy, uploads_->copy(bytes));
    completions_.add([block = std::move(block)](const Status&) {}, std::move(copy.done));  // kept until it is copied
    return BufferPtr(std::move(copy.buffer));
  }
  BURN_TRY(auto buffer, memory_->allocate(bytes.size()));
  if (!bytes.empty()) {
    BURN_RETURN_IF_ERROR(
        check(driver().cuMemcpyHtoDAsync(buffer->address(), bytes.data(), bytes.size(), stream_), "upload"));
    completions_.add([block = std::move(block)](const Status&) {});  // kept until it is copied
  }
  return BufferPtr(std::move(buffer));
}

Status CudaStream::begin_use(std::span<const BufferPtr> buffers) {
  if (!uploads_) return {};
  std::uint64_t last = 0;
  for (const auto& buffer : buffers) {
    if (buffer && uploads_->owns(cuda(buffer))) last = std::max(last, cuda(buffer).upload);
  }
  return uploads_->begin_use(last);
}

void CudaStream::download(BufferPtr buffer, std::size_t size, Downloaded done) {
  const auto fail = [&](Status status) {
    completions_.add_awaited(
        [done, failure = std::make_shared<const Status>(std::move(status))](const Status&) { done({}, failure); });
  };
  device_->make_current();
  if (size > buffer->size())
    return fail(invalid_argument(fmt::format("download: {} bytes of a buffer of {}", size, buffer->size())));
  auto block = pinned_->allocate(size);
  if (!block.ok()) return fail(block.status());
  if (size > 0) {
    auto copied = begin_use(std::span(&buffer, 1));
    if (copied.ok()) {
      copied = check(driver().cuMemcpyDtoHAsync((*block)->bytes().data(), cuda(buffer).address(), size, stream_),
                     "download");
    }
    if (!copied.ok()) return fail(std::move(copied));
  }
  completions_.add_awaited([buffer = std::move(buffer), block = *block, done = std::move(done)](const Status& device) {
    if (!device.ok()) return done({}, std::make_shared<const Status>(device));
    if (auto failure = failure_of(buffer)) return done({}, failure);
    done(SharedBytes(block, block->bytes()), nullptr);
  });
}

Result<BufferPtr> CudaStream::clone(const BufferPtr& buffer) {
  device_->make_current();
  BURN_TRY(auto copy, memory_->allocate(buffer->size()));
  copy->outcome = cuda(buffer).outcome;
  if (buffer->size() > 0) {
    BURN_RETURN_IF_ERROR(begin_use(std::span(&buffer, 1)));
    BURN_RETURN_IF_ERROR(
        check(driver().cuMemcpyDtoDAsync(copy->address(), cuda(buffer).address(), buffer->size(), stream_), "clone"));
  }
  return BufferPtr(std::move(copy));
}

void CudaStream::synchronize(Done done) {
  device_->make_current();
  completions_.add_awaited([done = std::move(done)](const Status& device) { done(device); });
}

void CudaStream::observe(Done done) {
  device_->make_current();
  completions_.add([done = std::move(done)](const Status& device) { done(device); });
}

}  // namespace burn::backends::cuda
