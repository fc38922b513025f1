#include "net/transport/ws_sender.h"

#include <array>
#include <utility>

#include <sys/uio.h>

namespace burn::net::ws {
namespace {

constexpr std::size_t kBytesPerTurn = std::size_t{256} << 10;  // before the loop's other work gets its turn
constexpr std::size_t kMaxUrgentBytes = 4096;                  // beyond this the peer sends pings and does not read

}  // namespace

void Sender::send(proto::EncodedFrame frame, proto::Lane lane) {
  if (!queue_.push(std::move(frame), lane)) return;
  if (lane == proto::Lane::control) {
    pump_here();
  } else {
    pump_on_loop();
  }
}

void Sender::close() {
  if (queue_.close()) pump_on_loop();
}

void Sender::send_control(Opcode opcode, std::string_view content) {
  {
    const std::lock_guard lock(urgent_mutex_);
    if (urgent_.size() > kMaxUrgentBytes) return;
    urgent_ += make_control(opcode, content, role_);
  }
  if (queue_.wake()) pump_on_loop();
}

void Sender::break_off(CloseCode code, std::string_view why) {
  if (!queue_.discard() || sent_close_) return;
  std::string frame = make_control(Opcode::close, encode_close(code, why), role_);
  iovec part{frame.data(), frame.size()};
  (void)socket_->write({&part, 1});  // an empty socket accepts it; a full one is not being read
}

// Writes what one system call can; the rest is written on the loop.
void Sender::pump_here() {
  if (!fill_outbox()) return;
  const auto written = write_outbox();
  if (written.error != 0 && !written.would_block()) return pump_on_loop();
  if (!outbox_.empty() || fill_outbox()) pump_on_loop();
}

void Sender::pump_on_loop() {
  socket_->dispatch([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->pump();
  });
}

void Sender::pump() {
  const auto again = [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->pump();
  };
  for (std::size_t bytes = 0; !outbox_.empty() || fill_outbox();) {
    const auto written = write_outbox();
    bytes += written.bytes;
    if (bytes >= kBytesPerTurn) return socket_->post(again);
    if (written.error == 0) continue;
    if (written.would_block()) return socket_->wait_writable(again);
    outbox_.clear();
    return socket_->shutdown();  // the reading half finds out why: the peer's close frame may have arrived
  }
}

// Fills the outbox from the queue. Returns false if there is nothing to write and the pump is idle. Requires: the
// outbox is empty.
bool Sender::fill_outbox() {
  queue_.written();
  if (is_drain_awaited_.load(std::memory_order_relaxed)) look_if_drained();
  do {
    {
      const std::lock_guard lock(urgent_mutex_);
      if (!urgent_.empty()) outbox_.add_raw(std::exchange(urgent_, {}));
    }
    bool is_idle = false;
    while (!is_idle && !sent_close_ && !outbox_.is_enough()) {
      const bool stays = !outbox_.empty();
      SendQueue::Next next = queue_.next(stays);
      if (next.frame) {
        outbox_.add(*std::move(next.frame));
      } else if (next.finished) {
        outbox_.add_raw(make_control(Opcode::close, encode_close(CloseCode::normal, ""), role_));
        sent_close_ = true;
      } else if (stays) {
        break;
      } else {
        is_idle = true;
      }
    }
    if (!is_idle) return !outbox_.empty();
    // Another thread may own the outbox by now. A ping may have been added since the check, while the pump counted as
    // running.
  } while (has_urgent() && queue_.wake());
  return false;
}

void Sender::when_drained(std::size_t bytes, std::function<void()> drained) {
  {
    const std::lock_guard lock(drain_mutex_);
    drain_bytes_ = bytes;
    drained_ = std::move(drained);
    is_drain_awaited_ = true;
  }
  look_if_drained();  // the last frame may have been written before is_drain_awaited_ was set
}

void Sender::look_if_drained() {
  std::function<void()> drained;
  {
    const std::lock_guard lock(drain_mutex_);
    if (!is_drain_awaited_ || queue_.bytes() > drain_bytes_) return;
    is_drain_awaited_ = false;
    drained = std::exchange(drained_, nullptr);
  }
  socket_->post(std::move(drained));
}

bool Sender::has_urgent() {
  const std::lock_guard lock(urgent_mutex_);
  return !urgent_.empty();
}

LoopSocket::Transfer Sender::write_outbox() {
  std::array<iovec, Outbox::kMaxParts> parts;
  const std::size_t count = outbox_.parts(parts, kBytesPerTurn);
  const auto written = socket_->write(std::span(parts).first(count));
  outbox_.consume(written.bytes);
  written_bytes_.fetch_add(written.bytes, std::memory_order_relaxed);
  return written;
}

}  // namespace burn::net::ws
