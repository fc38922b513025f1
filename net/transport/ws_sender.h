// The sending half of a WebSocket: frames of two lanes, with pings, pongs and the close frame between them.
//
// The thread that starts the queue's pump owns the outbox until the queue is empty. A control frame sent while the pump
// is idle is written by the sending thread, which saves waking the loop. Everything else is written on the loop's
// thread, including bursts with bulk frames.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "net/transport/loop_socket.h"
#include "net/transport/send_queue.h"
#include "net/transport/ws_outbox.h"

namespace burn::net::ws {

// Thread-safe.
class Sender : public std::enable_shared_from_this<Sender> {
 public:
  Sender(std::shared_ptr<LoopSocket> socket, Role role) : socket_(std::move(socket)), role_(role), outbox_(role) {}

  void send(proto::EncodedFrame frame, proto::Lane lane);
  void begin_burst() { queue_.begin_burst(); }
  void end_burst() {
    if (queue_.end_burst()) queue_.has_bulk() ? pump_on_loop() : pump_here();
  }
  void flush() {
    if (queue_.flush()) pump_here();
  }
  // Sends a close frame after the frames sent before.
  void close();
  bool sent_close() const { return sent_close_; }
  // Sends a ping or pong, between messages.
  void send_control(Opcode opcode, std::string_view content);

  // Drops the waiting frames. Tells the peer why if no message is partly written; nothing is sent after that.
  void break_off(CloseCode code, std::string_view why);
  void discard() { queue_.discard(); }

  std::size_t queued_bytes() const { return queue_.bytes(); }
  // Whether close() was called, or the waiting frames were dropped: only the end remains to be sent.
  bool is_closing() const { return queue_.is_closed(); }
  // Bytes that the socket has accepted so far.
  std::uint64_t written_bytes() const { return written_bytes_.load(std::memory_order_relaxed); }

  // Calls `drained` once, on the loop's thread, when at most `bytes` wait.
  void when_drained(std::size_t bytes, std::function<void()> drained);

 private:
  void pump_here();
  void pump_on_loop();
  void pump();
  bool fill_outbox();
  bool has_urgent();
  LoopSocket::Transfer write_outbox();
  void look_if_drained();

  const std::shared_ptr<LoopSocket> socket_;
  const Role role_;
  SendQueue queue_;
  std::atomic<bool> sent_close_ = false;

  std::atomic<std::uint64_t> written_bytes_ = 0;
  std::atomic<bool> is_drain_awaited_ = false;
  std::mutex drain_mutex_;
  std::size_t drain_bytes_ = 0;
  std::function<void()> drained_;

  Outbox outbox_;  // owned by the thread that runs the pump

  std::mutex urgent_mutex_;
  std::string urgent_;  // whole control frames
};

}  // namespace burn::net::ws
