#include "serving/upload.h"

#include <cstring>

#include <fmt/format.h>

namespace burn::serving {

Status StagedUpload::fill(std::uint64_t offset, std::span<const std::byte> bytes) {
  {
    const std::lock_guard lock{mutex_};
    if (offset > size_ || bytes.size() > size_ - offset) {
      return {StatusCode::out_of_range,
              fmt::format("bytes {} to {} of a tensor of {}", offset, offset + bytes.size(), size_)};
    }
    if (offset != filled_) return invalid_argument(fmt::format("byte {} where byte {} is due", offset, filled_));
    if (staging_ && !bytes.empty()) {
      auto* const place = staging_->bytes().data() + offset;
      if (place != bytes.data()) std::memcpy(place, bytes.data(), bytes.size());
    }
    filled_ += bytes.size();
    if (filled_ < size_) return {};
  }
  end();
  return {};
}

std::shared_ptr<std::byte> StagedUpload::destination(std::uint64_t offset, std::size_t size) {
  const std::lock_guard lock{mutex_};
  if (!staging_ || offset != filled_ || size > size_ - offset) return nullptr;
  return {staging_, staging_->bytes().data() + offset};
}

bool StagedUpload::complete() const {
  const std::lock_guard lock{mutex_};
  return filled_ == size_;
}

void StagedUpload::finish() { end(); }

void StagedUpload::end() {
  if (!ended_.exchange(true)) signal_->notify();
}

Result<HostBlockPtr> StagedUpload::wait() {
  if (!signal_->wait([&] { return ended_.load(); })) return cancelled("the session was closed during an upload");
  const std::lock_guard lock{mutex_};
  if (filled_ < size_) return data_loss(fmt::format("the upload ended after {} of {} bytes", filled_, size_));
  return std::exchange(staging_, nullptr);
}

void StagedUpload::drop() {
  const std::lock_guard lock{mutex_};
  staging_ = nullptr;
}

}  // namespace burn::serving
