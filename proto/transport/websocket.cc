#include "proto/transport/websocket.h"

#include <sys/socket.h>

#include <array>
#include <future>
#include <optional>
#include <utility>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>

#include "proto/transport/handler_gate.h"
#include "proto/transport/send_queue.h"

namespace burn::proto {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;

using ErrorCode = boost::system::error_code;
using Protocol = asio::generic::stream_protocol;  // one stream type, compiled once, for TCP and unix sockets
using Socket = asio::basic_stream_socket<Protocol, IoContext::executor_type>;
using Stream = websocket::stream<Socket, /*deflate=*/false>;

// A client masks what it sends, in pieces of this size: they should fit the second-level cache and be worth a system call.
constexpr std::size_t kWriteBufferBytes = std::size_t{256} << 10;

int family_of(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return address.ss_family;
}

// Members without a lock belong to the thread of the event loop.
class Connection final : public Abortable, public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<IoContext> context, UniqueFd socket, const WebSocketOptions& options)
      : context_(std::move(context)), options_(options), peer_(peer_name(socket.get())) {
    set_no_delay(socket.get());
    stream_.emplace(context_->get_executor());
    stream_->next_layer().assign(Protocol{family_of(socket.get()), 0}, socket.release());
    stream_->set_option(websocket::stream_base::timeout{options.handshake_timeout, options.idle_timeout, true});
    stream_->read_message_max(options.max_frame_bytes);
    stream_->write_buffer_bytes(kWriteBufferBytes);
    stream_->auto_fragment(false);
    stream_->binary(true);
  }

  using Accept = std::function<std::shared_ptr<ChannelHandler>(std::shared_ptr<Channel>)>;
  void serve(Accept accept, std::shared_ptr<const void> lease);
  std::future<Status> open(const std::string& host, std::shared_ptr<ChannelHandler> handler);

  void send(EncodedFrame frame, Lane lane) {
    if (queue_.push(std::move(frame), lane)) start_pump();
  }
  void close() {
    if (queue_.close()) start_pump();
  }
  void detach() {  // nobody listens any more
    gate_.shut();
    abort(cancelled("the channel was destroyed"));
  }
  void abort(Status why) override {
    queue_.discard();
    asio::post(*context_, [weak = weak_from_this(), why = std::move(why)] {
      if (const auto self = weak.lock()) self->finish(why);
    });
  }

  std::size_t queued_bytes() const { return queue_.bytes(); }
  const std::string& peer() const { return peer_; }

 private:
  void on_accepted(ErrorCode error, const Accept& accept);
  void read();
  void on_read(ErrorCode error);
  void start_pump();
  void pump();
  void on_written(ErrorCode error);
  void say_goodbye();
  Status describe(ErrorCode error) const;
  Status describe_goodbye() const;
  void finish(Status why);

  const std::shared_ptr<IoContext> context_;
  const WebSocketOptions options_;
  const std::string peer_;
  SendQueue queue_;
  HandlerGate gate_;
  std::optional<Stream> stream_;  // until finished; operations under way then end with operation_aborted
  beast::flat_buffer incoming_;
  EncodedFrame outgoing_;
  std::shared_ptr<const void> lease_;
  bool saying_goodbye_ = false;
  bool finished_ = false;
};

class WebSocketChannel final : public Channel {
 public:
  explicit WebSocketChannel(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}
  ~WebSocketChannel() override { connection_->detach(); }

  void send(EncodedFrame frame, Lane lane) override { connection_->send(std::move(frame), lane); }
  void close() override { connection_->close(); }
  std::size_t queued_bytes() const override { return connection_->queued_bytes(); }
  std::string peer() const override { return connection_->peer(); }

 private:
  const std::shared_ptr<Connection> connection_;
};

void Connection::serve(Accept accept, std::shared_ptr<const void> lease) {
  lease_ = std::move(lease);
  asio::post(*context_, [self = shared_from_this(), accept = std::move(accept)]() mutable {
    if (self->finished_) return;
    self->stream_->async_accept(
        [self, accept = std::move(accept)](ErrorCode error) { self->on_accepted(error, accept); });
  });
}

void Connection::on_accepted(ErrorCode error, const Accept& accept) {
  if (finished_) return;
  if (error) return finish(describe(error));
  auto handler = accept(std::make_shared<WebSocketChannel>(shared_from_this()));
  if (!handler) return finish(cancelled("refused"));
  gate_.open(std::move(handler));
  read();
}

std::future<Status> Connection::open(const std::string& host, std::shared_ptr<ChannelHandler> handler) {
  auto opened = std::make_shared<std::promise<Status>>();
  asio::post(*context_, [self = shared_from_this(), host, handler = std::move(handler), opened]() mutable {
    self->stream_->async_handshake(host, "/", [self, handler = std::move(handler), opened](ErrorCode error) mutable {
      if (error) {
        const Status why = self->describe(error);
        self->finish(why);
        return opened->set_value(why);
      }
      self->gate_.open(std::move(handler));
      opened->set_value(ok_status());
      self->read();
    });
  });
  return opened->get_future();
}

void Connection::read() {
  stream_->async_read(incoming_, [self = shared_from_this()](ErrorCode error, std::size_t) { self->on_read(error); });
}

void Connection::on_read(ErrorCode error) {
  if (finished_) return;
  if (error) return finish(saying_goodbye_ ? ok_status() : describe(error));
  if (!stream_->got_binary()) return finish(invalid_argument("the peer sent a text message; frames are binary"));
  auto owner = std::make_shared<const beast::flat_buffer>(std::move(incoming_));
  const auto bytes = owner->cdata();
  const std::span frame{static_cast<const std::byte*>(bytes.data()), bytes.size()};
  gate_.frame(SharedBytes{std::move(owner), frame});
  read();
}

void Connection::start_pump() {
  asio::dispatch(*context_, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->pump();
  });
}

void Connection::pump() {
  if (finished_) return;
  SendQueue::Next next = queue_.next();
  if (next.finished) return say_goodbye();
  if (!next.frame) return;
  outgoing_ = *std::move(next.frame);
  const std::array<asio::const_buffer, 2> buffers{asio::buffer(outgoing_.header),
                                                  asio::buffer(outgoing_.payload.data(), outgoing_.payload.size())};
  stream_->async_write(buffers, [self = shared_from_this()](ErrorCode error, std::size_t) { self->on_written(error); });
}

void Connection::on_written(ErrorCode error) {
  outgoing_ = {};
  if (finished_) return;
  if (!error) return pump();
  // Why is for the reading side to say: the peer's goodbye may be there already.
  stream_->next_layer().shutdown(Socket::shutdown_both, error);
}

void Connection::say_goodbye() {
  saying_goodbye_ = true;
  stream_->async_close(websocket::close_code::normal, [self = shared_from_this()](ErrorCode) { self->finish(ok_status()); });
}

Status Connection::describe(ErrorCode error) const {
  if (error == websocket::error::closed) return describe_goodbye();
  if (error == beast::error::timeout) return unavailable("the peer does not answer");
  if (error == websocket::error::message_too_big) {
    return resource_exhausted("the peer sent a frame of more than " + std::to_string(options_.max_frame_bytes) + " bytes");
  }
  if (error == asio::error::eof || error == asio::error::connection_reset || error == asio::error::broken_pipe ||
      error == asio::error::operation_aborted) {
    return unavailable("the peer went away");
  }
  if (error == websocket::condition::protocol_violation || error == websocket::condition::handshake_failed) {
    return invalid_argument("the peer does not speak WebSocket: " + error.message());
  }
  return unavailable(error.message());
}

Status Connection::describe_goodbye() const {
  const auto& reason = stream_->reason();
  const std::string text{reason.reason.data(), reason.reason.size()};
  switch (reason.code) {
    case websocket::close_code::none:
    case websocket::close_code::normal:
    case websocket::close_code::going_away:
      return ok_status();
    case websocket::close_code::too_big:
      return resource_exhausted("the peer takes no frame as large as ours: " + text);
    default:
      return unavailable("the peer closed with code " + std::to_string(reason.code) + ": " + text);
  }
}

void Connection::finish(Status why) {
  if (std::exchange(finished_, true)) return;
  queue_.discard();
  stream_.reset();
  lease_.reset();
  gate_.closed(std::move(why));
}

}  // namespace

std::weak_ptr<Abortable> serve_websocket(std::shared_ptr<IoContext> context, UniqueFd socket,
                                                   const WebSocketOptions& options, Connection::Accept accept,
                                                   std::shared_ptr<const void> lease) {
  auto connection = std::make_shared<Connection>(std::move(context), std::move(socket), options);
  connection->serve(std::move(accept), std::move(lease));
  return connection;
}

Result<std::shared_ptr<Channel>> open_websocket(std::shared_ptr<IoContext> context, UniqueFd socket,
                                                const std::string& host, const WebSocketOptions& options,
                                                std::shared_ptr<ChannelHandler> handler) {
  auto connection = std::make_shared<Connection>(std::move(context), std::move(socket), options);
  Status opened = connection->open(host, std::move(handler)).get();
  if (!opened.ok()) return opened;
  return std::shared_ptr<Channel>(std::make_shared<WebSocketChannel>(std::move(connection)));
}

}  // namespace burn::proto
