// A tensor that is being received for a session: one thread writes its bytes, the executor waits for them.
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
  // Receives into `block`, which is as large as the tensor.
  StagedUpload(std::shared_ptr<SessionSignal> signal, HostBlockPtr block)
      : signal_(std::move(signal)), size_(block->bytes().size()), staging_(std::move(block)), ended_(size_ == 0) {}

  // For the receiving thread. Bytes for a dropped upload are ignored. Bytes that are already in their place are not
  // copied.
  Status fill(std::uint64_t offset, std::span<const std::byte> bytes);
  // Memory to receive the next `size` bytes in; null if `offset` is not the next one or the upload was dropped.
  std::shared_ptr<std::byte> destination(std::uint64_t offset, std::size_t size);
  bool complete() const;
  // No more bytes follow; an incomplete upload has failed.
  void finish();

  // For the executor. Waits for all bytes and returns them; the upload is empty afterwards.
  // Errors: DATA_LOSS if the upload ended incomplete, CANCELLED if the session closes first.
  Result<HostBlockPtr> wait();
  // Frees the memory, when the tensor was released.
  void drop();

 private:
  void end();

  const std::shared_ptr<SessionSignal> signal_;
  const std::size_t size_;
  mutable std::mutex mutex_;
  HostBlockPtr staging_;  // null once taken or dropped
  std::size_t filled_ = 0;
  std::atomic<bool> ended_;  // complete or failed
};

// The receiving thread's handle of an upload; its destructor ends the upload.
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
