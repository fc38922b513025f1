// The beginning of a connection, and receiving.
#include "net/transport/ws_connection.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include <sys/uio.h>

#include "proto/channel_batch.h"

namespace burn::net::ws {
namespace {

// Limits on reading before the loop's other sockets get their turn.
constexpr int kReadsPerTurn = 16;
constexpr std::size_t kBytesPerTurn = std::size_t{256} << 10;

// Bytes that may arrive before a hello is accepted: a hello, and as much again for HTTP and pings.
constexpr std::size_t kMaxUnauthenticatedBytes = 2 * proto::kMaxHelloBytes;

Status gone(const LoopSocket& socket, int error) {
  if (Status why = socket.tls_failure(); !why.ok()) return why;
  if (error == EPROTO) return unavailable("the peer broke the rules of the shared memory");
  const bool plain = error == 0 || error == EPIPE || error == ECONNRESET;
  return unavailable(plain ? "the peer went away" : errno_text(error));
}

}  // namespace

// --- hello -----------------------------------------------------------------------------------------------------------

void Connection::serve(Accept accept, std::shared_ptr<const void> lease) {
  accept_ = std::move(accept);
  lease_ = std::move(lease);
  socket_->post([self = shared_from_this()] { self->start(); });
}

std::future<Status> Connection::open(const std::string& host, std::shared_ptr<proto::ChannelHandler> handler) {
  handler_ = std::move(handler);
  auto opened = opened_.get_future();
  host_ = host;
  socket_->post([self = shared_from_this()] { self->start(); });
  return opened;
}

void Connection::start() {
  if (stage_ == Stage::finished) return;
  socket_->on_failure([weak = weak_from_this()](const char* why) {
    if (const auto self = weak.lock()) self->fail(why);
  });
  socket_->wait_for(options_.handshake_timeout,
                    [self = shared_from_this()] { self->finish(unavailable("the peer does not answer")); });
  secure();
}

// TLS, if there is any, comes first; its last message may arrive together with the bytes that follow.
void Connection::secure() {
  if (stage_ != Stage::handshake) return;
  const auto secured = socket_->secure();
  if (!secured.ok()) {
    if (role_ == Role::client) return finish(secured.status());
    refuse(secured.status());
    return read();
  }
  if (!*secured) return socket_->wait_secure([self = shared_from_this()] { self->secure(); });
  if (handler_) upgrade_.ask(host_, handler_->greeting());
  socket_->is_secure() ? on_readable() : read();
}

void Connection::do_handshake() {
  auto shaken = upgrade_.proceed(inbox_);
  if (shaken.ok()) return *shaken ? enter() : void();
  return role_ == Role::client ? finish(shaken.status()) : refuse(shaken.status());
}

void Connection::enter() {
  stage_ = Stage::open;
  last_seen_ = Clock::now();
  tick_later();
  if (role_ == Role::client) {
    gate_.open(std::exchange(handler_, nullptr));
    if (auto greeting = upgrade_.take_unsent_greeting()) sender_->send(*std::move(greeting), proto::Lane::control);
    return set_opened(ok_status());
  }
  auto handler = std::exchange(accept_, nullptr)(std::make_shared<ConnectionChannel>(shared_from_this()));
  if (!handler) return refuse(unavailable("refused"));
  gate_.open(std::move(handler));
  inbox_.set_max_message_bytes(0);  // until the handler allows more
  const auto hello = upgrade_.take_hello();
  if (hello.empty()) return;
  const auto bytes = std::as_bytes(std::span{hello});
  hello_in_request_ = SharedBytes::own(std::vector<std::byte>(bytes.begin(), bytes.end()));
  gate_.frame(hello_in_request_);  // every handler's limit is at least that size
}

void Connection::set_opened(const Status& status) {
  if (role_ == Role::client && !std::exchange(is_opened_set_, true)) opened_.set_value(status);
}

// A client that is not told that its first message was accepted, as a proxy dropped the unknown header, sends it again
// as the first message of the WebSocket. It was handled already.
bool Connection::is_repeated_hello(const SharedBytes& message) {
  const auto said = std::exchange(hello_in_request_, {});
  return std::ranges::equal(said.span(), message.span());
}

// --- receiving -------------------------------------------------------------------------------------------------------

void Connection::read() {
  socket_->wait_readable([self = shared_from_this()] { self->on_readable(); });
}

void Connection::on_readable() {
  std::size_t bytes = 0;
  bool is_more = true;
  for (int i = 0; is_more && i < kReadsPerTurn && bytes < kBytesPerTurn; ++i) {
    if (stage_ == Stage::finished || pauses_for_answers()) return;
    std::array<iovec, 2> parts;
    std::size_t most = kBytesPerTurn;
    for (std::size_t k = 0; const auto space : inbox_.space()) {
      parts[k] = {space.data(), std::min(space.size(), most)};
      most -= parts[k++].iov_len;
    }
    const auto got = socket_->read(parts);
    is_more = got.is_more;
    if (got.would_block()) break;
    bytes += got.bytes;
    if (got.bytes == 0) return finish(sender_->sent_close() ? ok_status() : gone(*socket_, got.error));
    last_seen_ = Clock::now();
    arrival_.took(got.bytes);
    if (stage_ == Stage::lingering) continue;  // drops the bytes, so that the peer can read why it was refused
    inbox_.advance(got.bytes);
    digest();
    if (exceeds_unauthenticated_limit(got.bytes)) {
      refuse(resource_exhausted("more came before the hello was accepted than a hello may have"));
    }
  }
  if (stage_ == Stage::finished) return;
  if (!is_more) return read();
  socket_->post([self = shared_from_this()] { self->on_readable(); });
}

// The first message that is not a hello is refused; everything else, such as pings and empty fragments, is counted
// here.
bool Connection::exceeds_unauthenticated_limit(std::size_t more) {
  if (role_ != Role::server || unauthenticated_bytes_ > kMaxUnauthenticatedBytes || stage_ == Stage::lingering)
    return false;
  const auto most = std::min(options_.max_frame_bytes, proto::kMaxHelloBytes + 1);
  const bool is_known = stage_ == Stage::open && inbox_.max_message_bytes() >= most;
  if (is_known || stage_ == Stage::finished) return false;
  unauthenticated_bytes_ += more;
  return unauthenticated_bytes_ > kMaxUnauthenticatedBytes;
}

// Pauses reading from a peer that does not read its answers. Only on a server: if both ends paused like this, they
// would wait forever.
bool Connection::pauses_for_answers() {
  if (stage_ != Stage::open || role_ != Role::server || sender_->queued_bytes() <= kMaxQueuedBytes) return false;
  is_paused_ = true;
  tick_later();
  sender_->when_drained(kMaxQueuedBytes / 2, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || !std::exchange(self->is_paused_, false)) return;
    self->last_seen_ = Clock::now();  // the silence was this end's, which did not read
    self->on_readable();
  });
  return true;
}

// Answers that are sent while handling the messages leave together, after all of them are handled.
void Connection::digest() {
  if (stage_ == Stage::handshake) do_handshake();
  sender_->begin_burst();
  {
    const proto::ChannelBatch batch;
    take_events();
  }
  sender_->end_burst();
}

void Connection::take_events() {
  while (stage_ == Stage::open) {
    if (inbox_.max_message_bytes() < options_.max_frame_bytes) {
      inbox_.set_max_message_bytes(std::min(options_.max_frame_bytes, gate_.max_frame_bytes()));
    }
    const auto next = inbox_.next();
    if (!next.ok()) return refuse(next.status().with_context("the peer sent"));
    const std::optional<Inbox::Event>& event = *next;
    if (!event) return;
    if (event->opcode == Opcode::binary) arrival_.took(StallWatch::kMinBytes);  // the message is complete
    on_event(*event);
  }
}

void Connection::on_event(const Inbox::Event& event) {
  const std::string_view content{reinterpret_cast<const char*>(event.content.data()), event.content.size()};
  switch (event.opcode) {
    case Opcode::ping:
      return sender_->send_control(Opcode::pong, content);
    case Opcode::pong:
      return;
    case Opcode::close:
      return on_close_frame(ws::decode_close(event.content.span()));
    default:
      if (!hello_in_request_.empty() && is_repeated_hello(event.content)) return;
      return event.rest.empty() ? gate_.frame(event.content) : gate_.frame_in_place(event.content, event.rest);
  }
}

}  // namespace burn::net::ws
