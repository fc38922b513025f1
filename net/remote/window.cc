#include "net/remote/window.h"

namespace burn::net {

void Window::open(std::uint64_t max_in_flight, std::uint64_t credit, bool keeps) {
  max_in_flight_ = max_in_flight;
  max_unexecuted_bytes_ = kMaxUnexecutedBytes;
  uploads_.open(credit, keeps);
  if (keeps) frames_.keep();
}

bool Window::has_room(std::uint64_t upload_bytes) const {
  if (frames_.unacknowledged() >= max_in_flight_ || frames_.bytes() > kMaxKeptBytes) return false;
  if (upload_bytes == 0) return true;
  const auto fits = [&](std::uint64_t already, std::uint64_t limit) {
    return already == 0 || already + upload_bytes <= limit;
  };
  return fits(uploads_.waiting_bytes(), kMaxWaitingBytes) && fits(unexecuted_bytes_, max_unexecuted_bytes_);
}

void Window::add(OrderedFrame frame, bool is_awaited) {
  if (frame.upload_id) {
    unexecuted_.push_back({frame.seq, frame.upload.size()});
    unexecuted_bytes_ += frame.upload.size();
  }
  if (is_awaited) last_awaited_ = frame.seq;
  frames_.add(std::move(frame));
}

void Window::begin_upload(OrderedFrame write) {
  uploads_.add(write.seq, write.upload_id.value_or(0), std::move(write.upload));
}

Status Window::acknowledge(std::uint64_t seq) {
  BURN_RETURN_IF_ERROR(frames_.acknowledge(seq));
  for (; !unexecuted_.empty() && unexecuted_.front().seq <= seq; unexecuted_.pop_front()) {
    unexecuted_bytes_ -= unexecuted_.front().bytes;
  }
  return {};
}

Result<std::uint64_t> Window::resume(std::uint64_t received, std::uint64_t credit,
                                     std::span<const proto::Chunk> uploads) {
  BURN_TRY(const std::uint64_t lost, frames_.resume(received));
  BURN_RETURN_IF_ERROR(uploads_.resume(credit, uploads, received));
  return lost;
}

void Window::clear() {
  frames_.clear();
  uploads_.clear();
}

}  // namespace burn::net
