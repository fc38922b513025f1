#include "backends/cuda/device/uploads.h"

#include <algorithm>

namespace burn::backends::cuda {
namespace {

// The most bytes of freed blocks of one size that are still in use: beyond that a copy waits for the first of them. Two
// such blocks are always allowed, so that one is filled while the other is used.
constexpr std::size_t kMaxBusyBytes = std::size_t{32} << 20;
// Number of copies that no command has waited for: from there on, each copy checks whether the first ones are done.
constexpr std::size_t kManyCopies = 16;

}  // namespace

Result<std::unique_ptr<Uploads>> Uploads::open(Device& device, std::shared_ptr<Events> events, CUstream compute) {
  CUstream copies = nullptr;
  BURN_RETURN_IF_ERROR(
      check(driver().cuStreamCreateWithPriority(&copies, CU_STREAM_NON_BLOCKING, 0), "cuStreamCreate"));
  return std::unique_ptr<Uploads>(new Uploads(device, std::move(events), compute, copies));
}

Uploads::Uploads(Device& device, std::shared_ptr<Events> events, CUstream compute, CUstream copies)
    : events_(std::move(events)),
      compute_(compute),
      copies_(copies),
      uses_(std::make_shared<std::atomic<std::uint64_t>>(0)),
      memory_(device.memory()->open_stream(uses_)) {}

Uploads::~Uploads() {
  driver().cuStreamSynchronize(copies_);
  driver().cuStreamDestroy(copies_);
  memory_->close();
}

Result<Uploads::Copy> Uploads::copy(std::span<const std::byte> bytes) {
  BURN_RETURN_IF_ERROR(mark_uses());
  BURN_TRY(auto taken, memory_->allocate_oldest(bytes.size(), done_, kMaxBusyBytes));
  BURN_RETURN_IF_ERROR(wait_for_use(taken.last_use));
  if (!bytes.empty()) {
    BURN_RETURN_IF_ERROR(
        check(driver().cuMemcpyHtoDAsync(taken.buffer->address(), bytes.data(), bytes.size(), copies_), "upload"));
  }
  auto done = events_->record(copies_);
  if (!done.ok()) {
    driver().cuStreamSynchronize(copies_);
    return done.status();
  }
  while (copied_.size() >= kManyCopies && is_reached(copied_.front().event)) copied_.pop_front();
  taken.buffer->upload = ++uploads_;
  copied_.push_back({uploads_, *done});
  return Copy{std::move(taken.buffer), *std::move(done)};
}

// Counts a new use, so that memory which is freed later is not taken for unused.
Status Uploads::begin_use(std::uint64_t upload) {
  uses_->fetch_add(1);
  if (upload <= awaited_) return {};
  awaited_ = upload;
  while (!copied_.empty() && copied_.front().number < upload) copied_.pop_front();
  if (copied_.empty() || copied_.front().number != upload) return {};  // was found to be done before
  const auto event = std::move(copied_.front().event);
  copied_.pop_front();
  return check(driver().cuStreamWaitEvent(compute_, event.get(), 0), "cuStreamWaitEvent");
}

Status Uploads::mark_uses() {
  for (; !used_.empty() && is_reached(used_.front().event); used_.pop_front()) done_ = used_.front().number;
  const auto uses = uses_->load();
  if (uses == marked_) return {};
  BURN_TRY(auto event, events_->record(compute_));
  used_.push_back({uses, std::move(event)});
  marked_ = uses;
  return {};
}

Status Uploads::wait_for_use(std::uint64_t use) {
  if (use <= done_) return {};
  // The mark exists: uses begin on this thread only, and the last of them has been marked.
  const auto mark = std::ranges::lower_bound(used_, use, {}, &Mark::number);
  return check(driver().cuStreamWaitEvent(copies_, mark->event.get(), 0), "cuStreamWaitEvent");
}

}  // namespace burn::backends::cuda
