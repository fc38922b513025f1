// The end of a connection, and detecting that the peer is gone.
#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "net/transport/ws_connection.h"

namespace burn::net::ws {
namespace {

constexpr auto kLinger = std::chrono::seconds{1};  // time for a refused peer to read why

CloseCode close_code_of(const Status& broken) {
  switch (broken.code()) {
    case StatusCode::resource_exhausted:
      return CloseCode::too_big;
    case StatusCode::unimplemented:
      return CloseCode::unsupported;
    default:
      return CloseCode::protocol_error;
  }
}

Status status_of(const CloseReason& reason) {
  switch (reason.code) {
    case CloseCode::normal:
    case CloseCode::going_away:
    case CloseCode::none:
      return ok_status();
    case CloseCode::too_big:
      return resource_exhausted("the peer closed: " + reason.text);
    default:
      return unavailable("the peer closed with code " + std::to_string(static_cast<int>(reason.code)) + ": " +
                         reason.text);
  }
}

}  // namespace

// --- close -----------------------------------------------------------------------------------------------------------

void Connection::on_close_frame(const CloseReason& reason) {
  sender_->break_off(CloseCode::normal, "");
  finish(sender_->sent_close() ? ok_status() : status_of(reason));
}

void Connection::refuse(Status why) {
  const bool shaken = stage_ == Stage::open;
  stage_ = Stage::lingering;
  if (shaken) sender_->break_off(close_code_of(why), why.message());
  socket_->shutdown_writing();
  socket_->wait_for(kLinger, [self = shared_from_this()] { self->finish(ok_status()); });
  gate_.closed(std::move(why));
}

// Called when a callback has thrown. The peer is told if there is memory for that.
void Connection::fail(const char* why) {
  const auto status = resource_exhausted(why);
  try {
    if (stage_ == Stage::open) return refuse(status);
  } catch (const std::exception&) {
  }
  finish(status);
}

void Connection::finish(Status why) {
  if (std::exchange(stage_, Stage::finished) == Stage::finished) return;
  sender_->discard();
  socket_->close();
  lease_.reset();
  accept_ = nullptr;
  handler_.reset();
  set_opened(why);
  gate_.closed(std::move(why));
}

void Connection::abort(Status why) {
  sender_->discard();
  socket_->post([weak = weak_from_this(), why = std::move(why)] {
    if (const auto self = weak.lock()) self->finish(why);
  });
}

void Connection::tick_later() {
  const bool is_urgent = is_paused_ || sender_->is_closing();
  const Clock::duration period = options_.idle_timeout / 4;
  socket_->wait_for(is_urgent ? std::min<Clock::duration>(period, std::chrono::seconds{1}) : period,
                    [weak = weak_from_this()] {
                      if (const auto self = weak.lock()) self->tick();
                    });
}

void Connection::tick() {
  if (stage_ != Stage::open) return;
  const auto now = Clock::now();
  const auto written = sender_->written_bytes();
  stall_.took(written - std::exchange(written_bytes_, written));
  // A peer that reads this much is alive, even if its answer to our ping takes long: the ping may wait behind megabytes
  // on a slow connection.
  if (written - written_then_ >= StallWatch::kMinBytes) {
    written_then_ = written;
    last_seen_ = now;
  }
  const bool is_ending = sender_->is_closing();
  const auto timeout = is_ending ? options_.handshake_timeout : options_.idle_timeout;
  if (stall_.is_stalled(now, is_ending, is_ending || is_paused_, timeout)) {
    return finish(sender_->sent_close() ? ok_status() : unavailable(std::string{kDoesNotRead}));
  }
  // A message that arrives byte by byte holds memory. On a client, the answer timeout limits it.
  const bool is_coming = role_ == Role::server && !is_ending && !is_paused_ && inbox_.is_within_message();
  if (arrival_.is_stalled(now, false, is_coming, timeout)) {
    return refuse(
        Status{StatusCode::deadline_exceeded,
               fmt::format("a message was begun and has not come: less than {} bytes of it in {} s",
                           StallWatch::kMinBytes, std::chrono::duration_cast<std::chrono::seconds>(timeout).count())});
  }
  const auto silence = now - last_seen_;
  if (!is_paused_ && silence >= options_.idle_timeout && !socket_->has_input())
    return finish(unavailable("the peer does not answer"));
  if (silence >= options_.idle_timeout / 2) sender_->send_control(Opcode::ping, "");
  tick_later();
}

}  // namespace burn::net::ws
