// A tensor on its way to the worker: one thread fills its bytes in, the executor waits for them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>

#include "base/bytes.h"
#include "base/status.h"

namespace burn::server {

// What an executor waits on: any upload that ends, and the end of its session. Thread-safe.
class UploadSignal {
 public:
  void close();
  void notify();
  // Until `done` is set (by somebody who then calls notify) or the session closes. False: it closed.
  bool wait(const std::atomic<bool>& done);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
};

// Thread-safe.
class Upload {
 public:
  // Errors: RESOURCE_EXHAUSTED.
  static Result<std::shared_ptr<Upload>> create(std::shared_ptr<UploadSignal> signal, std::size_t size);

  // The filling side. Bytes for an upload that nobody wants any more are taken and dropped. Those that stand in their
  // place already are not copied.
  Status fill(std::uint64_t offset, std::span<const std::byte> bytes);
  // The place of the next `size` bytes, to be received into; null when they are not due or not wanted.
  std::shared_ptr<std::byte> place(std::uint64_t offset, std::size_t size);
  bool complete() const;
  // Nothing more will come. What is missing now is missing for good.
  void finish();

  // The executor's side. All bytes, as soon as they are here; the upload is empty afterwards.
  // Errors: DATA_LOSS when they never will be, CANCELLED when the session closes first.
  Result<SharedBytes> wait();
  // Frees the memory: nobody wants the tensor any more.
  void drop();

 private:
  Upload(std::shared_ptr<UploadSignal> signal, std::shared_ptr<std::byte[]> staging, std::size_t size)
      : signal_(std::move(signal)), size_(size), staging_(std::move(staging)) {}
  void end();

  const std::shared_ptr<UploadSignal> signal_;
  const std::size_t size_;
  mutable std::mutex mutex_;
  std::shared_ptr<std::byte[]> staging_;  // null once taken or dropped
  std::size_t filled_ = 0;
  std::atomic<bool> ended_ = false;  // complete, or given up
};

}  // namespace burn::server
