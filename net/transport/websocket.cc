#include "net/transport/websocket.h"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <future>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <sys/uio.h>

#include "net/transport/handler_gate.h"
#include "net/transport/loop_socket.h"
#include "net/transport/stall_watch.h"
#include "net/transport/ws_inbox.h"
#include "net/transport/ws_sender.h"
#include "net/transport/ws_upgrade.h"

namespace burn::net {
namespace {

using Clock = LoopSocket::Clock;
using ws::CloseCode;
using ws::Opcode;
using ws::Role;
using Accept = std::function<std::shared_ptr<proto::ChannelHandler>(std::shared_ptr<proto::Channel>)>;

constexpr int kReadsPerTurn = 16;                  // before the loop's other work gets its turn
constexpr auto kLinger = std::chrono::seconds{1};  // for a peer that is turned away to read why

Status gone(int error) {
  if (error == EPROTO) return unavailable("the peer broke the rules of the shared memory");
  const bool plain = error == 0 || error == EPIPE || error == ECONNRESET;
  return unavailable(plain ? "the peer went away" : errno_text(error));
}

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

Status status_of(const ws::CloseReason& reason) {
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

// The receiving half and the life of a WebSocket; members belong to the loop's thread, unless they are thread-safe
// themselves.
class Connection final : public Abortable, public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<IoContext> loop, UniqueFd socket, const WebSocketOptions& options, Role role)
      : options_(options),
        role_(role),
        socket_(std::make_shared<LoopSocket>(std::move(loop), std::move(socket))),
        sender_(std::make_shared<ws::Sender>(socket_, role)),
        upgrade_(*socket_, role, options.shared_memory, options.origins),
        inbox_(
            role == Role::server ? Role::client : Role::server, options.max_frame_bytes,
            [this](std::span<const std::byte> head, std::uint64_t size) { return gate_.receive_space(head, size); }) {}

  // Any thread, once.
  void serve(Accept accept, std::shared_ptr<const void> lease);
  std::future<Status> open(const std::string& host, std::shared_ptr<proto::ChannelHandler> handler);

  // Any thread.
  ws::Sender& sender() { return *sender_; }
  const std::string& peer() const { return socket_->peer(); }
  bool shares_memory() const { return upgrade_.shares_memory(); }
  void detach() {  // nobody listens any more
    gate_.shut();
    abort(cancelled("the channel was destroyed"));
  }
  void abort(Status why) override;

 private:
  enum class Stage { handshake, open, lingering, finished };

  void start();
  void read();
  void on_readable();
  bool pauses_for_answers();
  void digest();
  void take_events();
  void shake_hands();
  void enter();
  void on_event(const ws::Inbox::Event& event);
  void on_close_frame(const ws::CloseReason& reason);
  void turn_away(Status why);
  void fail(const char* why);
  void finish(Status why);
  void tick_later();
  void tick();

  const WebSocketOptions options_;
  const Role role_;
  const std::shared_ptr<LoopSocket> socket_;
  const std::shared_ptr<ws::Sender> sender_;
  HandlerGate gate_;

  Stage stage_ = Stage::handshake;
  ws::Upgrade upgrade_;
  ws::Inbox inbox_;
  Clock::time_point last_seen_;  // when the peer was: it sent something, or took what was sent
  bool is_paused_ = false;       // nothing is read while answers wait
  StallWatch stall_;
  std::uint64_t written_bytes_ = 0;  // that stall_ knows of
  std::uint64_t written_then_ = 0;   // when the peer was last seen to take something
  std::shared_ptr<const void> lease_;
  // Until the handshake is done. A server's:
  Accept accept_;
  // A client's:
  std::optional<std::promise<Status>> opened_;
  std::shared_ptr<proto::ChannelHandler> handler_;
};

class WebSocketChannel final : public proto::Channel {
 public:
  explicit WebSocketChannel(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}
  ~WebSocketChannel() override { connection_->detach(); }

  void send(proto::EncodedFrame frame, proto::Lane lane) override {
    connection_->sender().send(std::move(frame), lane);
  }
  void begin_burst() override { connection_->sender().begin_burst(); }
  void end_burst() override { connection_->sender().end_burst(); }
  void flush() override { connection_->sender().flush(); }
  void close() override { connection_->sender().close(); }
  std::size_t queued_bytes() const override { return connection_->sender().queued_bytes(); }
  std::string peer() const override { return connection_->peer(); }
  bool is_shared_memory() const override { return connection_->shares_memory(); }

 private:
  const std::shared_ptr<Connection> connection_;
};

// --- hello -----------------------------------------------------------------------------------------------------------

void Connection::serve(Accept accept, std::shared_ptr<const void> lease) {
  accept_ = std::move(accept);
  lease_ = std::move(lease);
  socket_->post([self = shared_from_this()] { self->start(); });
}

std::future<Status> Connection::open(const std::string& host, std::shared_ptr<proto::ChannelHandler> handler) {
  handler_ = std::move(handler);
  auto opened = opened_.emplace().get_future();
  socket_->post([self = shared_from_this(), host] {
    if (self->handler_) self->upgrade_.ask(host, self->handler_->greeting());
    self->start();
  });
  return opened;
}

void Connection::start() {
  if (stage_ == Stage::finished) return;
  socket_->on_failure([weak = weak_from_this()](const char* why) {
    if (const auto self = weak.lock()) self->fail(why);
  });
  socket_->wait_for(options_.handshake_timeout,
                    [self = shared_from_this()] { self->finish(unavailable("the peer does not answer")); });
  read();
}

void Connection::shake_hands() {
  auto shaken = upgrade_.proceed(inbox_);
  if (shaken.ok()) return *shaken ? enter() : void();
  return opened_ ? finish(shaken.status()) : turn_away(shaken.status());
}

void Connection::enter() {
  stage_ = Stage::open;
  last_seen_ = Clock::now();
  tick_later();
  if (opened_) {
    gate_.open(std::exchange(handler_, nullptr));
    if (auto greeting = upgrade_.take_unsaid()) sender_->send(*std::move(greeting), proto::Lane::control);
    return std::exchange(opened_, std::nullopt)->set_value(ok_status());
  }
  auto handler = std::exchange(accept_, nullptr)(std::make_shared<WebSocketChannel>(shared_from_this()));
  if (!handler) return turn_away(unavailable("refused"));
  gate_.open(std::move(handler));
  inbox_.set_max_message_bytes(0);  // until the handler says more
  const auto hello = upgrade_.take_hello();
  if (hello.empty()) return;
  const auto bytes = std::as_bytes(std::span{hello});
  gate_.frame(SharedBytes::own(std::vector<std::byte>(bytes.begin(), bytes.end())));  // within any handler's limit
}

// --- receiving -------------------------------------------------------------------------------------------------------

void Connection::read() {
  socket_->wait_readable([self = shared_from_this()] { self->on_readable(); });
}

void Connection::on_readable() {
  for (int i = 0; i < kReadsPerTurn; ++i) {
    if (stage_ == Stage::finished || pauses_for_answers()) return;
    std::array<iovec, 2> parts;
    for (std::size_t k = 0; const auto space : inbox_.space()) parts[k++] = {space.data(), space.size()};
    const auto got = socket_->read(parts);
    if (got.would_block()) break;
    if (got.bytes == 0) return finish(sender_->sent_close() ? ok_status() : gone(got.error));
    last_seen_ = Clock::now();
    if (stage_ == Stage::lingering) continue;  // read, so that the peer gets to read
    inbox_.advance(got.bytes);
    digest();
    if (!got.is_more) break;
  }
  if (stage_ != Stage::finished) read();
}

// Who asks and does not read is not asked what else he wants. Only by a server: if both ends waited so, they would for
// ever.
bool Connection::pauses_for_answers() {
  if (stage_ != Stage::open || role_ != Role::server || sender_->queued_bytes() <= kMostWaitingBytes) return false;
  is_paused_ = true;
  tick_later();
  sender_->when_drained(kMostWaitingBytes / 2, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || !std::exchange(self->is_paused_, false)) return;
    self->last_seen_ = Clock::now();  // it was us who did not listen
    self->on_readable();
  });
  return true;
}

// What is answered on the spot leaves in one piece, after all of it is received.
void Connection::digest() {
  if (stage_ == Stage::handshake) shake_hands();
  sender_->begin_burst();
  take_events();
  sender_->end_burst();
}

void Connection::take_events() {
  while (stage_ == Stage::open) {
    if (inbox_.max_message_bytes() < options_.max_frame_bytes) {
      inbox_.set_max_message_bytes(std::min(options_.max_frame_bytes, gate_.max_frame_bytes()));
    }
    const auto event = inbox_.next();
    if (!event.ok()) return turn_away(event.status().with_context("the peer sent"));
    if (!*event) return;
    on_event(**event);
  }
}

void Connection::on_event(const ws::Inbox::Event& event) {
  const std::string_view content{reinterpret_cast<const char*>(event.content.data()), event.content.size()};
  switch (event.opcode) {
    case Opcode::ping:
      return sender_->send_control(Opcode::pong, content);
    case Opcode::pong:
      return;
    case Opcode::close:
      return on_close_frame(ws::decode_close(event.content.span()));
    default:
      return event.rest.empty() ? gate_.frame(event.content) : gate_.frame_in_place(event.content, event.rest);
  }
}

// --- close -----------------------------------------------------------------------------------------------------------

void Connection::on_close_frame(const ws::CloseReason& reason) {
  sender_->break_off(CloseCode::normal, "");
  finish(sender_->sent_close() ? ok_status() : status_of(reason));
}

void Connection::turn_away(Status why) {
  const bool shaken = stage_ == Stage::open;
  stage_ = Stage::lingering;
  if (shaken) sender_->break_off(close_code_of(why), why.message());
  socket_->shutdown_writing();
  socket_->wait_for(kLinger, [self = shared_from_this()] { self->finish(ok_status()); });
  gate_.closed(std::move(why));
}

// Something has thrown. The peer learns it if there is memory to say it with.
void Connection::fail(const char* why) {
  const auto status = resource_exhausted(why);
  try {
    if (stage_ == Stage::open) return turn_away(status);
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
  if (opened_) std::exchange(opened_, std::nullopt)->set_value(why);
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
  // Who takes this much is there, even if an answer to our ping is long in coming: behind megabytes, on a slow line.
  if (written - written_then_ >= StallWatch::kLeastBytes) {
    written_then_ = written;
    last_seen_ = now;
  }
  const bool is_ending = sender_->is_closing();
  const auto patience = is_ending ? options_.handshake_timeout : options_.idle_timeout;
  if (stall_.is_stalled(now, is_ending, is_ending || is_paused_, patience)) {
    return finish(sender_->sent_close() ? ok_status() : unavailable(std::string{kDoesNotRead}));
  }
  const auto silence = now - last_seen_;
  if (!is_paused_ && silence >= options_.idle_timeout && !socket_->has_input())
    return finish(unavailable("the peer does not answer"));
  if (silence >= options_.idle_timeout / 2) sender_->send_control(Opcode::ping, "");
  tick_later();
}

}  // namespace

std::weak_ptr<Abortable> serve_websocket(std::shared_ptr<IoContext> loop, UniqueFd socket,
                                         const WebSocketOptions& options, Accept accept,
                                         std::shared_ptr<const void> lease) {
  auto connection = std::make_shared<Connection>(std::move(loop), std::move(socket), options, Role::server);
  connection->serve(std::move(accept), std::move(lease));
  return connection;
}

Result<std::shared_ptr<proto::Channel>> open_websocket(std::shared_ptr<IoContext> loop, UniqueFd socket,
                                                       const std::string& host, const WebSocketOptions& options,
                                                       std::shared_ptr<proto::ChannelHandler> handler) {
  auto connection = std::make_shared<Connection>(std::move(loop), std::move(socket), options, Role::client);
  Status opened = connection->open(host, std::move(handler)).get();
  if (!opened.ok()) return opened;
  return std::shared_ptr<proto::Channel>(std::make_shared<WebSocketChannel>(std::move(connection)));
}

}  // namespace burn::net
