// WebSocket channels over Boost.Beast: the same two functions as net/transport/websocket.cc has, for programs that link
// this file instead. What ADR 026 measures; shared memory is left out.
#include <array>
#include <cstring>
#include <exception>
#include <future>
#include <optional>
#include <utility>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <sys/socket.h>

#include "net/transport/handler_gate.h"
#include "net/transport/send_queue.h"
#include "net/transport/stall_watch.h"
#include "net/transport/websocket.h"
#include "net/transport/ws_handshake.h"

namespace burn::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using Accept = std::function<std::shared_ptr<proto::ChannelHandler>(std::shared_ptr<proto::Channel>)>;
using Clock = std::chrono::steady_clock;
using ErrorCode = boost::system::error_code;
using Executor = IoContext::executor_type;
using Socket = asio::basic_stream_socket<asio::generic::stream_protocol, Executor>;
using Stream = websocket::stream<Socket, /*deflateSupported=*/false>;
using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor>;

constexpr std::size_t kHeadBytes = 64, kMinInPlaceBytes = std::size_t{32} << 10;  // as in ws_inbox.h
constexpr std::size_t kReadBuffer = 1536;                                         // of Beast's stream
constexpr std::size_t kMostHeaderBytes = std::size_t{16} << 10;
constexpr std::size_t kMaskedAtOnce = std::size_t{64} << 10;  // 16 to 256 KiB cost the same; Beast starts with 4

Socket adopt(IoContext& loop, UniqueFd fd) {
  tune_stream(fd.get());
  int family = 0;
  socklen_t size = sizeof family;
  ::getsockopt(fd.get(), SOL_SOCKET, SO_DOMAIN, &family, &size);
  return Socket{loop, asio::generic::stream_protocol(family, 0), fd.release()};
}

// Members belong to the loop's thread, unless they are thread-safe themselves.
class Connection final : public Abortable, public std::enable_shared_from_this<Connection> {
 private:
  // A callback for Beast; what it throws ends this connection only.
  template <typename Callback>
  auto guarded(Callback callback) {
    return [self = shared_from_this(), callback = std::move(callback)](auto... results) {
      try {
        callback(results...);
      } catch (const std::exception& error) {
        self->finish(resource_exhausted(error.what()));
      }
    };
  }
  template <typename Work>
  void on_loop(Work work) {
    asio::dispatch(*loop_, guarded(std::move(work)));
  }
  void pump_if(bool is_idle) {
    if (is_idle) on_loop([this] { pump(); });
  }
  void listen_for(Clock::duration idle) {
    stream_.set_option(websocket::stream_base::timeout{options_.handshake_timeout, idle, true});
  }
  void end_after(Clock::duration time) {
    timer_.expires_after(time);
    timer_.async_wait(guarded([this](ErrorCode error) {
      if (!error) finish(unavailable("the peer does not answer"));
    }));
  }

 public:
  Connection(const std::shared_ptr<IoContext>& loop, UniqueFd socket, const WebSocketOptions& options, bool is_server)
      : options_(options),
        is_server_(is_server),
        loop_(loop),
        peer_(peer_name(socket.get())),
        stream_(adopt(*loop, std::move(socket))),
        timer_(*loop) {
    stream_.binary(true);
    stream_.auto_fragment(false);
    stream_.secure_prng(false);
    if (!is_server_) stream_.write_buffer_bytes(kMaskedAtOnce);
  }

  std::future<Status> open(const std::string& host, std::shared_ptr<proto::ChannelHandler> handler) {
    handler_ = std::move(handler);
    auto opened = opened_.emplace().get_future();
    on_loop([this, host] {
      listen_for(options_.idle_timeout);
      stream_.async_handshake(response_, host, "/", guarded([this](ErrorCode error) { shaken(error); }));
    });
    return opened;
  }

  void serve(Accept accept, std::shared_ptr<const void> lease) {
    accept_ = std::move(accept);
    lease_ = std::move(lease);
    on_loop([this] {
      listen_for(options_.idle_timeout);
      end_after(options_.handshake_timeout);
      asio::async_read_until(stream_.next_layer(), asio::dynamic_buffer(request_, kMostHeaderBytes), "\r\n\r\n",
                             guarded([this](ErrorCode error, std::size_t size) { requested(error, size); }));
    });
  }

  // Thread-safe.
  void send(proto::EncodedFrame frame, proto::Lane lane) { pump_if(queue_.push(std::move(frame), lane)); }
  void begin_burst() { queue_.begin_burst(); }
  void end_burst() { pump_if(queue_.end_burst()); }
  void flush() { pump_if(queue_.flush()); }
  void close() { pump_if(queue_.close()); }
  std::size_t queued_bytes() const { return queue_.bytes(); }
  const std::string& peer() const { return peer_; }
  void detach() {
    gate_.shut();
    abort(cancelled("the channel was destroyed"));
  }
  void abort(Status why) override {
    queue_.discard();
    asio::post(*loop_, [self = shared_from_this(), why = std::move(why)] { self->finish(why); });
  }

 private:
  void requested(ErrorCode error, std::size_t size);
  void shaken(ErrorCode error);
  void read();
  void on_head(std::size_t count);
  void read_on();
  void on_message();
  void pump();
  void hang_up(websocket::close_code code, std::string_view why);
  Status reason_of(ErrorCode error) const;
  void broken(ErrorCode error);
  void tick_later();
  void tick();
  void finish(Status why);

  const WebSocketOptions options_;
  const bool is_server_;
  const std::shared_ptr<IoContext> loop_;
  const std::string peer_;
  HandlerGate gate_;
  SendQueue queue_;
  Stream stream_;
  Timer timer_;

  std::array<std::byte, kReadBuffer> head_;
  std::shared_ptr<std::byte[]> whole_;  // the message, unless it has a space
  proto::ReceiveSpace space_;
  std::size_t filled_ = 0, capacity_ = 0;
  proto::EncodedFrame sending_;
  StallWatch stall_;
  bool is_open_ = false, is_paused_ = false, is_closing_ = false, is_finished_ = false;

  std::shared_ptr<const void> lease_;
  std::string request_;
  Accept accept_;
  websocket::response_type response_;
  std::optional<std::promise<Status>> opened_;
  std::shared_ptr<proto::ChannelHandler> handler_;
};

class BeastChannel final : public proto::Channel {
 public:
  explicit BeastChannel(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}
  ~BeastChannel() override { connection_->detach(); }

  void send(proto::EncodedFrame frame, proto::Lane lane) override { connection_->send(std::move(frame), lane); }
  void begin_burst() override { connection_->begin_burst(); }
  void end_burst() override { connection_->end_burst(); }
  void flush() override { connection_->flush(); }
  void close() override { connection_->close(); }
  std::size_t queued_bytes() const override { return connection_->queued_bytes(); }
  std::string peer() const override { return connection_->peer(); }

 private:
  const std::shared_ptr<Connection> connection_;
};

// --- hello -----------------------------------------------------------------------------------------------------------

void Connection::requested(ErrorCode error, std::size_t size) {
  if (error) return finish(unavailable("the peer went away"));
  auto answer = ws::answer_upgrade(std::string_view{request_}.substr(0, size), {}, options_.origins);
  if (answer.status.ok()) {
    return stream_.async_accept(asio::buffer(request_), guarded([this](ErrorCode failed) { shaken(failed); }));
  }
  const auto text = std::make_shared<std::string>(std::move(answer.text));
  asio::async_write(stream_.next_layer(), asio::buffer(*text), guarded([this, text](ErrorCode, std::size_t) {
                      ErrorCode ignored;
                      stream_.next_layer().shutdown(Socket::shutdown_send, ignored);
                      end_after(std::chrono::seconds{1});  // for the peer to read why
                    }));
}

void Connection::shaken(ErrorCode error) {
  if (is_finished_) return;
  if (error) {
    const bool declined = error == websocket::error::upgrade_declined;
    return finish(declined ? unavailable("the server answers " + std::to_string(response_.result_int()) + " " +
                                         std::string{response_.reason()})
                           : reason_of(error));
  }
  is_open_ = true;
  tick_later();
  if (opened_) {
    gate_.open(std::exchange(handler_, nullptr));
    std::exchange(opened_, std::nullopt)->set_value(ok_status());
  } else {
    auto handler = std::exchange(accept_, nullptr)(std::make_shared<BeastChannel>(shared_from_this()));
    if (!handler) return hang_up(websocket::close_code::policy_error, "refused");
    gate_.open(std::move(handler));
  }
  read();
}

// --- receiving -------------------------------------------------------------------------------------------------------

void Connection::read() {
  if (is_finished_ || is_closing_) return;
  if (is_server_ && queue_.bytes() > kMostWaitingBytes) {  // who does not read is not asked what else he wants
    is_paused_ = true;
    listen_for(websocket::stream_base::none());
    return tick_later();
  }
  stream_.read_message_max(std::max<std::size_t>(std::min(options_.max_frame_bytes, gate_.max_frame_bytes()), 1));
  stream_.async_read_some(asio::buffer(head_), guarded([this](ErrorCode error, std::size_t count) {
                            return error ? broken(error) : on_head(count);
                          }));
}

void Connection::on_head(std::size_t count) {
  if (stream_.got_text()) return hang_up(websocket::close_code::unknown_data, "a text message; frames are binary");
  const std::size_t size = count + (stream_.is_message_done() ? 0 : stream_.read_size_hint());
  if (size >= kMinInPlaceBytes && count >= kHeadBytes) space_ = gate_.receive_space(std::span(head_).first(64), size);
  if (space_.begin == 0 || space_.begin > kHeadBytes || space_.bytes.size() != size - space_.begin) space_ = {};
  filled_ = count;
  capacity_ = size;
  whole_ = std::make_shared_for_overwrite<std::byte[]>(space_.begin > 0 ? space_.begin : size);
  if (space_.begin > 0) {
    std::memcpy(whole_.get(), head_.data(), space_.begin);
    std::memcpy(space_.bytes.data(), head_.data() + space_.begin, count - space_.begin);
  } else {
    std::memcpy(whole_.get(), head_.data(), count);
  }
  stream_.is_message_done() ? on_message() : read_on();
}

void Connection::read_on() {
  if (filled_ == capacity_) {  // in several frames after all
    const std::size_t size = std::max(2 * capacity_, filled_ + stream_.read_size_hint());
    auto larger = std::make_shared_for_overwrite<std::byte[]>(size);
    std::memcpy(larger.get(), whole_.get(), space_.begin > 0 ? space_.begin : filled_);
    if (space_.begin > 0) std::memcpy(larger.get() + space_.begin, space_.bytes.data(), space_.bytes.size());
    whole_ = std::move(larger);
    space_ = {};
    capacity_ = size;
  }
  std::byte* const to = space_.begin > 0 ? space_.bytes.data() + (filled_ - space_.begin) : whole_.get() + filled_;
  stream_.async_read_some(asio::buffer(to, capacity_ - filled_), guarded([this](ErrorCode error, std::size_t count) {
                            if (error) return broken(error);
                            filled_ += count;
                            stream_.is_message_done() ? on_message() : read_on();
                          }));
}

void Connection::on_message() {
  const std::span<const std::byte> bytes{whole_.get(), space_.begin > 0 ? space_.begin : filled_};
  SharedBytes content{std::move(whole_), bytes};
  auto space = std::exchange(space_, {});
  begin_burst();
  if (space.begin > 0) {
    gate_.frame_in_place(std::move(content), {std::move(space.owner), space.bytes});
  } else {
    gate_.frame(std::move(content));
  }
  end_burst();
  read();
}

// --- sending ---------------------------------------------------------------------------------------------------------

void Connection::pump() {
  if (is_finished_) return;
  queue_.written();
  if (is_paused_ && queue_.bytes() <= kMostWaitingBytes / 2) {
    is_paused_ = false;
    listen_for(options_.idle_timeout);
    read();
  }
  auto next = queue_.next();
  if (next.finished) return hang_up(websocket::close_code::normal, "");
  if (!next.frame) return;
  sending_ = *std::move(next.frame);
  const std::array<asio::const_buffer, 2> parts = {
      asio::buffer(sending_.header), asio::const_buffer{sending_.payload.data(), sending_.payload.size()}};
  stream_.async_write(parts, guarded([this](ErrorCode error, std::size_t count) {
                        stall_.took(count);
                        if (!error) return pump();
                        if (is_paused_) broken(error);  // else reading finds out why
                      }));
}

// --- the end ---------------------------------------------------------------------------------------------------------

void Connection::hang_up(websocket::close_code code, std::string_view why) {
  if (is_finished_ || std::exchange(is_closing_, true)) return;
  stream_.async_close({code, beast::string_view{why.data(), why.size()}}, guarded([this, code](ErrorCode) {
                        finish(code == websocket::close_code::normal ? ok_status() : unavailable("turned away"));
                      }));
}

Status Connection::reason_of(ErrorCode error) const {
  if (error == websocket::error::message_too_big) return resource_exhausted("the peer sent a frame that is too large");
  if (error == beast::error::timeout) return unavailable("the peer does not answer");
  if (error != websocket::error::closed) return unavailable("the peer went away: " + error.message());
  const auto& reason = stream_.reason();
  const bool is_normal = reason.code == websocket::close_code::normal || reason.code == websocket::close_code::none ||
                         reason.code == websocket::close_code::going_away;
  return is_normal ? ok_status() : unavailable("the peer closed: " + std::string{reason.reason.c_str()});
}

void Connection::broken(ErrorCode error) {
  if (!is_closing_) return finish(reason_of(error));
  if (error != asio::error::operation_aborted) finish(ok_status());  // else the close says when it is over
}

void Connection::tick_later() {
  timer_.expires_after(is_paused_ || queue_.is_closed() ? Clock::duration{std::chrono::seconds{1}}
                                                        : options_.idle_timeout / 4);
  timer_.async_wait(guarded([this](ErrorCode error) {
    if (!error) tick();
  }));
}

void Connection::tick() {
  if (is_finished_) return;
  const bool is_ending = queue_.is_closed();
  const auto patience = is_ending ? options_.handshake_timeout : options_.idle_timeout;
  if (stall_.is_stalled(Clock::now(), is_ending, is_ending || is_paused_, patience)) {
    return finish(is_closing_ ? ok_status() : unavailable(std::string{kDoesNotRead}));
  }
  tick_later();
}

void Connection::finish(Status why) {
  if (std::exchange(is_finished_, true)) return;
  queue_.discard();
  ErrorCode ignored;
  stream_.next_layer().close(ignored);
  stream_.set_option({websocket::stream_base::none(), websocket::stream_base::none(), false});  // ends its timer, too
  timer_.cancel();
  lease_.reset();
  accept_ = nullptr;
  handler_.reset();
  if (opened_) std::exchange(opened_, std::nullopt)->set_value(why);
  gate_.closed(std::move(why));
}

}  // namespace

std::weak_ptr<Abortable> serve_websocket(std::shared_ptr<IoContext> loop, UniqueFd socket,
                                         const WebSocketOptions& options, Accept accept,
                                         std::shared_ptr<const void> lease) {
  auto connection = std::make_shared<Connection>(loop, std::move(socket), options, true);
  connection->serve(std::move(accept), std::move(lease));
  return connection;
}

Result<std::shared_ptr<proto::Channel>> open_websocket(std::shared_ptr<IoContext> loop, UniqueFd socket,
                                                       const std::string& host, const WebSocketOptions& options,
                                                       std::shared_ptr<proto::ChannelHandler> handler) {
  auto connection = std::make_shared<Connection>(loop, std::move(socket), options, false);
  Status opened = connection->open(host, std::move(handler)).get();
  if (!opened.ok()) return opened;
  return std::shared_ptr<proto::Channel>(std::make_shared<BeastChannel>(std::move(connection)));
}

}  // namespace burn::net
