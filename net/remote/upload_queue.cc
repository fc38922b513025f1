#include "net/remote/upload_queue.h"

#include <limits>
#include <utility>

namespace burn::net {

void UploadQueue::add(proto::TensorId id, SharedBytes bytes) {
  waiting_ += bytes.size();
  uploads_.push_back({id, std::move(bytes)});
}

Status UploadQueue::grant(std::uint64_t bytes) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (bytes > kMost - credit_) return {StatusCode::out_of_range, "more credit than 63 bits hold"};
  credit_ += bytes;
  return {};
}

std::optional<proto::Frame> UploadQueue::next() {
  if (uploads_.empty()) return std::nullopt;
  Waiting& upload = uploads_.front();
  const std::uint64_t size = std::min(piece_, upload.bytes.size() - upload.sent);
  if (size > credit_) return std::nullopt;
  proto::Frame frame{0, proto::Chunk{upload.id, upload.sent}, upload.bytes.slice(upload.sent, size)};
  credit_ -= size;
  waiting_ -= size;
  upload.sent += size;
  if (upload.sent == upload.bytes.size()) uploads_.pop_front();
  return frame;
}

void UploadQueue::clear() {
  uploads_.clear();
  waiting_ = 0;
}

}  // namespace burn::net
