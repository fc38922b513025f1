#include "server/upload.h"

#include <cstring>

#include <fmt/format.h>

#include "base/host_block.h"

namespace burn::server {

void UploadSignal::close() {
  {
    const std::lock_guard lock{mutex_};
    closed_ = true;
  }
  changed_.notify_all();
}

void UploadSignal::notify() {
  { const std::lock_guard lock{mutex_}; }  // whoever is about to wait has seen the change, or waits by now
  changed_.notify_all();
}

bool UploadSignal::wait(const std::atomic<bool>& done) {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [&] { return closed_ || done.load(); });
  return done.load();
}

Result<std::shared_ptr<Upload>> Upload::create(std::shared_ptr<UploadSignal> signal, std::size_t size) {
  auto staging = host_block(size);
  if (!staging) return resource_exhausted(fmt::format("no memory to receive a tensor of {} bytes", size));
  auto upload = std::shared_ptr<Upload>{new Upload{std::move(signal), std::move(staging), size}};
  if (size == 0) upload->ended_ = true;
  return upload;
}

Status Upload::fill(std::uint64_t offset, std::span<const std::byte> bytes) {
  {
    const std::lock_guard lock{mutex_};
    if (offset > size_ || bytes.size() > size_ - offset) {
      return {StatusCode::out_of_range,
              fmt::format("bytes {} to {} of a tensor of {}", offset, offset + bytes.size(), size_)};
    }
    if (offset != filled_) return invalid_argument(fmt::format("byte {} where byte {} is due", offset, filled_));
    const bool is_there = staging_ && bytes.data() == staging_.get() + offset;
    if (staging_ && !is_there && !bytes.empty()) std::memcpy(staging_.get() + offset, bytes.data(), bytes.size());
    filled_ += bytes.size();
    if (filled_ < size_) return {};
  }
  end();
  return {};
}

std::shared_ptr<std::byte> Upload::place(std::uint64_t offset, std::size_t size) {
  const std::lock_guard lock{mutex_};
  if (!staging_ || offset != filled_ || size > size_ - offset) return nullptr;
  return {staging_, staging_.get() + offset};
}

bool Upload::complete() const {
  const std::lock_guard lock{mutex_};
  return filled_ == size_;
}

void Upload::finish() { end(); }

void Upload::end() {
  if (!ended_.exchange(true)) signal_->notify();
}

Result<SharedBytes> Upload::wait() {
  if (!signal_->wait(ended_)) return cancelled("the session was closed during an upload");
  const std::lock_guard lock{mutex_};
  if (filled_ < size_) return data_loss(fmt::format("the upload ended after {} of {} bytes", filled_, size_));
  auto staging = std::exchange(staging_, nullptr);
  const std::span bytes{staging.get(), size_};
  return SharedBytes{std::move(staging), bytes};
}

void Upload::drop() {
  const std::lock_guard lock{mutex_};
  staging_ = nullptr;
}

}  // namespace burn::server
