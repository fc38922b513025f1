// WebSocket channels over Boost.Beast: the two functions of net/transport/websocket.h, for a benchmark that links this
// file in the place of websocket.cc (ADR 026). It carries frames like a product's, received in place, with Beast's
// limits and timeouts; what a server needs against untrusted clients (origins, slow readers, messages in pieces) is
// left out.
#include <array>
#include <cstring>
#include <future>
#include <optional>
#include <utility>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <sys/socket.h>

#include "net/transport/handler_gate.h"
#include "net/transport/send_queue.h"
#include "net/transport/websocket.h"

namespace burn::net {
namespace {

namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;
using Accept = std::function<std::shared_ptr<proto::ChannelHandler>(std::shared_ptr<proto::Channel>)>;
using ErrorCode = boost::system::error_code;
using Socket = asio::basic_stream_socket<asio::generic::stream_protocol, IoContext::executor_type>;
using Stream = websocket::stream<Socket, /*deflateSupported=*/false>;

constexpr std::size_t kHeadBytes = 64, kMinInPlaceBytes = std::size_t{32} << 10;  // as in ws_inbox.h
constexpr std::size_t kReadBuffer = 1536;                                         // buffer of Beast's stream
constexpr std::size_t kMaskedAtOnce = std::size_t{64} << 10;  // 16 to 256 KiB cost the same; Beast's default is 4 KiB

Socket adopt(IoContext& loop, UniqueFd fd) {
  tune_stream(fd.get());
  int family = 0;
  socklen_t size = sizeof family;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_DOMAIN, &family, &size) != 0) family = AF_INET;
  return Socket{loop, asio::generic::stream_protocol(family, 0), fd.release()};
}

// Members belong to the loop's thread, unless they are thread-safe themselves.
class Connection final : public Abortable, public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<IoContext> loop, UniqueFd socket, const WebSocketOptions& options, bool is_server)
      : options_(options),
        loop_(std::move(loop)),
        peer_(peer_name(socket.get())),
        stream_(adopt(*loop_, std::move(socket))) {
    stream_.set_option({options_.handshake_timeout, options_.idle_timeout, true});
    stream_.binary(true);
    stream_.auto_fragment(false);
    stream_.secure_prng(false);
    if (!is_server) stream_.write_buffer_bytes(kMaskedAtOnce);
  }

  std::future<Status> open(const std::string& host, std::shared_ptr<proto::ChannelHandler> handler) {
    handler_ = std::move(handler);
    auto opened = opened_.emplace().get_future();
    asio::dispatch(*loop_, [self = shared_from_this(), host] {
      self->stream_.async_handshake(host, "/", [self](ErrorCode error) { self->shaken(error); });
    });
    return opened;
  }

  void serve(Accept accept, std::shared_ptr<const void> lease) {
    accept_ = std::move(accept);
    lease_ = std::move(lease);
    asio::dispatch(*loop_, [self = shared_from_this()] {
      self->stream_.async_accept([self](ErrorCode error) { self->shaken(error); });
    });
  }

  SendQueue& queue() { return queue_; }
  const std::string& peer() const { return peer_; }
  void pump_if(bool is_idle) {
    if (is_idle) asio::dispatch(*loop_, [self = shared_from_this()] { self->pump(); });
  }
  void detach() {
    gate_.shut();
    abort(cancelled("the channel was destroyed"));
  }
  void abort(Status why) override {
    queue_.discard();
    asio::post(*loop_, [self = shared_from_this(), why = std::move(why)] { self->finish(why); });
  }

 private:
  void tell_opener(const Status& status) {
    if (opened_) opened_->set_value(status);
    opened_.reset();
  }
  void shaken(ErrorCode error);
  void read();
  void on_head(std::size_t count);
  void read_on();
  void on_message();
  void pump();
  void broken(ErrorCode error);
  void finish(Status why);

  const WebSocketOptions options_;
  const std::shared_ptr<IoContext> loop_;
  const std::string peer_;
  HandlerGate gate_;
  SendQueue queue_;
  Stream stream_;
  bool is_closing_ = false, is_finished_ = false;

  std::array<std::byte, kReadBuffer> head_;
  std::shared_ptr<std::byte[]> whole_;  // the message, or its part before `space_`
  proto::ReceiveSpace space_;
  std::size_t filled_ = 0, size_ = 0;  // of the message
  proto::EncodedFrame sending_;

  std::shared_ptr<const void> lease_;
  Accept accept_;
  std::optional<std::promise<Status>> opened_;
  std::shared_ptr<proto::ChannelHandler> handler_;
};

class BeastChannel final : public proto::Channel {
 public:
  explicit BeastChannel(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}
  ~BeastChannel() override { connection_->detach(); }

  void send(proto::EncodedFrame frame, proto::Lane lane) override {
    connection_->pump_if(connection_->queue().push(std::move(frame), lane));
  }
  void begin_burst() override { connection_->queue().begin_burst(); }
  void end_burst() override { connection_->pump_if(connection_->queue().end_burst()); }
  void flush() override { connection_->pump_if(connection_->queue().flush()); }
  void close() override { connection_->pump_if(connection_->queue().close()); }
  std::size_t queued_bytes() const override { return connection_->queue().bytes(); }
  std::string peer() const override { return connection_->peer(); }

 private:
  const std::shared_ptr<Connection> connection_;
};

void Connection::shaken(ErrorCode error) {
  if (error || is_finished_) return finish(unavailable("no handshake: " + error.message()));
  if (accept_) handler_ = std::exchange(accept_, nullptr)(std::make_shared<BeastChannel>(shared_from_this()));
  if (!handler_) return finish(unavailable("refused"));
  gate_.open(std::exchange(handler_, nullptr));
  tell_opener(ok_status());
  read();
}

void Connection::read() {
  stream_.read_message_max(std::max<std::size_t>(std::min(options_.max_frame_bytes, gate_.max_frame_bytes()), 1));
  stream_.async_read_some(asio::buffer(head_), [self = shared_from_this()](ErrorCode error, std::size_t count) {
    return error ? self->broken(error) : self->on_head(count);
  });
}

void Connection::on_head(std::size_t count) {
  filled_ = count;
  size_ = count + (stream_.is_message_done() ? 0 : stream_.read_size_hint());
  space_ = {};
  if (size_ >= kMinInPlaceBytes && count >= kHeadBytes) {
    space_ = gate_.receive_space(std::span(head_).first(kHeadBytes), size_);
    if (space_.begin > kHeadBytes || space_.bytes.size() != size_ - space_.begin) space_ = {};
  }
  const std::size_t here = space_.begin > 0 ? space_.begin : count;
  whole_ = std::make_shared_for_overwrite<std::byte[]>(space_.begin > 0 ? space_.begin : size_);
  std::memcpy(whole_.get(), head_.data(), here);
  if (count > here) std::memcpy(space_.bytes.data(), head_.data() + here, count - here);
  stream_.is_message_done() ? on_message() : read_on();
}

void Connection::read_on() {
  if (filled_ == size_) return finish(unimplemented("a message in pieces"));
  std::byte* const to = space_.begin > 0 ? space_.bytes.data() + (filled_ - space_.begin) : whole_.get() + filled_;
  const auto received = [self = shared_from_this()](ErrorCode error, std::size_t count) {
    if (error) return self->broken(error);
    self->filled_ += count;
    self->stream_.is_message_done() ? self->on_message() : self->read_on();
  };
  stream_.async_read_some(asio::buffer(to, size_ - filled_), received);
}

void Connection::on_message() {
  const std::span<const std::byte> bytes{whole_.get(), space_.begin > 0 ? space_.begin : filled_};
  SharedBytes content{std::move(whole_), bytes};
  queue_.begin_burst();
  if (space_.begin > 0) {
    gate_.frame_in_place(std::move(content), {std::move(space_.owner), space_.bytes});
  } else {
    gate_.frame(std::move(content));
  }
  pump_if(queue_.end_burst());
  read();
}

void Connection::pump() {
  if (is_finished_) return;
  queue_.written();
  auto next = queue_.next();
  if (next.finished) {
    is_closing_ = true;
    return stream_.async_close(websocket::close_code::normal,
                               [self = shared_from_this()](ErrorCode) { self->finish(ok_status()); });
  }
  if (!next.frame) return;
  sending_ = *std::move(next.frame);
  const std::array<asio::const_buffer, 2> parts = {
      asio::buffer(sending_.header), asio::const_buffer{sending_.payload.data(), sending_.payload.size()}};
  stream_.async_write(parts, [self = shared_from_this()](ErrorCode error, std::size_t) {
    if (!error) self->pump();  // on an error, the pending read reports the reason
  });
}

void Connection::broken(ErrorCode error) {
  if (is_closing_ && error == asio::error::operation_aborted) return;  // the close handler finishes
  finish(is_closing_ || error == websocket::error::closed ? ok_status() : unavailable(error.message()));
}

void Connection::finish(Status why) {
  if (std::exchange(is_finished_, true)) return;
  queue_.discard();
  ErrorCode ignored;
  stream_.next_layer().close(ignored);
  stream_.set_option({websocket::stream_base::none(), websocket::stream_base::none(), false});  // stops its timer, too
  lease_.reset();
  tell_opener(why);
  gate_.closed(std::move(why));
}

}  // namespace

std::weak_ptr<Abortable> serve_websocket(std::shared_ptr<IoContext> loop, UniqueFd socket,
                                         const WebSocketOptions& options, Accept accept,
                                         std::shared_ptr<const void> lease) {
  auto connection = std::make_shared<Connection>(std::move(loop), std::move(socket), options, true);
  connection->serve(std::move(accept), std::move(lease));
  return connection;
}

Result<std::shared_ptr<proto::Channel>> open_websocket(std::shared_ptr<IoContext> loop, UniqueFd socket,
                                                       const std::string& host, const WebSocketOptions& options,
                                                       std::shared_ptr<proto::ChannelHandler> handler) {
  auto connection = std::make_shared<Connection>(std::move(loop), std::move(socket), options, false);
  Status opened = connection->open(host, std::move(handler)).get();
  if (!opened.ok()) return opened;
  return std::shared_ptr<proto::Channel>(std::make_shared<BeastChannel>(std::move(connection)));
}

}  // namespace burn::net
