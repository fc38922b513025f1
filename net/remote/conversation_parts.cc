// Sends tensors in parts, as they arrive from elsewhere.
#include <utility>

#include "net/remote/conversation.h"

namespace burn::net {

Result<std::uint64_t> Conversation::announce(proto::Write write) {
  if (options_.lease_seconds > 0)
    return failed_precondition("a tensor in parts, in a session that may outlive its connection");
  std::unique_lock lock(mutex_);
  BURN_RETURN_IF_ERROR(send_locked(lock, write, {}, {}));
  return window_.next_seq() - 1;
}

Status Conversation::send_part(std::uint64_t seq, proto::TensorId id, std::uint64_t offset, SharedBytes bytes) {
  const std::lock_guard lock(mutex_);
  if (broken_) return *broken_;
  window_.add_part(seq, id, offset, std::move(bytes));
  send_what_fits();
  return {};
}

std::uint64_t Conversation::waiting_part_bytes() const {
  const std::lock_guard lock(mutex_);
  return window_.waiting_part_bytes();
}

// send_part() may send parts itself; then this reports them once more, with the next credit.
void Conversation::tell_parts_sent() {
  std::shared_ptr<const RemoteSession::Listener> listener;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(has_sent_parts_, false)) listener = listener_;
  }
  if (listener && listener->sent_parts) listener->sent_parts();
}

}  // namespace burn::net
