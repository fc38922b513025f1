// A tensor on its way to a session: one thread fills its bytes in, the executor waits for them.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "base/host_block.h"
#include "base/status.h"
#include "proto/served_session.h"
#include "serving/signal.h"

namespace burn::serving {

// Thread-safe.
class StagedUpload {
 public:
  // Received into `block`, which is as large as the tensor.
  StagedUpload(std::shared_ptr<SessionSignal> signal, HostBlockPtr block)
      : signal_(std::move(signal)), size_(block->bytes().size()), staging_(std::move(block)), ended_(size_ == 0) {}

  // The filling side. Bytes for an upload that was dropped are taken and ignored. Bytes that stand in their place
  // already are not copied.
  Status fill(std::uint64_t offset, std::span<const std::byte> bytes);
  // The place of the next `size` bytes, to be received into; null when they are not due or not wanted.
  std::shared_ptr<std::byte> destination(std::uint64_t offset, std::size_t size);
  bool complete() const;
  // Nothing more will come. What is missing now is missing for good.
  void finish();

  // The executor's side. All bytes, as soon as they are here; the upload is empty afterwards.
  // Errors: DATA_LOSS when they never will be, CANCELLED when the session closes first.
  Result<HostBlockPtr> wait();
  // Frees the memory: the tensor was released.
  void drop();

 private:
  void end();

  const std::shared_ptr<SessionSignal> signal_;
  const std::size_t size_;
  mutable std::mutex mutex_;
  HostBlockPtr staging_;  // null once taken or dropped
  std::size_t filled_ = 0;
  std::atomic<bool> ended_;  // complete, or given up
};

// The client's end of an upload.
class UploadHandle final : public proto::ServedSession::Upload {
 public:
  explicit UploadHandle(std::shared_ptr<StagedUpload> upload) : upload_(std::move(upload)) {}
  ~UploadHandle() override { upload_->finish(); }
  Status fill(std::uint64_t offset, std::span<const std::byte> bytes) override { return upload_->fill(offset, bytes); }
  std::shared_ptr<std::byte> destination(std::uint64_t offset, std::size_t size) override {
    return upload_->destination(offset, size);
  }
  bool complete() const override { return upload_->complete(); }

 private:
  const std::shared_ptr<StagedUpload> upload_;
};

}  // namespace burn::serving
