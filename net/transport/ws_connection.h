// A WebSocket connection, of either side: its handshake, its receiving half and its lifetime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <string>

#include "net/transport/handler_gate.h"
#include "net/transport/loop_socket.h"
#include "net/transport/stall_watch.h"
#include "net/transport/websocket.h"
#include "net/transport/ws_inbox.h"
#include "net/transport/ws_sender.h"
#include "net/transport/ws_upgrade.h"

namespace burn::net::ws {

// Members belong to the loop's thread, unless they are thread-safe themselves.
class Connection final : public Abortable, public std::enable_shared_from_this<Connection> {
 public:
  using Clock = LoopSocket::Clock;
  using Accept = std::function<std::shared_ptr<proto::ChannelHandler>(std::shared_ptr<proto::Channel>)>;

  Connection(std::shared_ptr<IoContext> loop, UniqueFd socket, const WebSocketOptions& options, Role role)
      : options_(options),
        role_(role),
        socket_(std::make_shared<LoopSocket>(std::move(loop), std::move(socket), options.make_tls)),
        sender_(std::make_shared<Sender>(socket_, role)),
        upgrade_(*socket_, role, options.shared_memory, options.origins),
        inbox_(
            role == Role::server ? Role::client : Role::server, options.max_frame_bytes,
            [this](std::span<const std::byte> head, std::uint64_t size) { return gate_.receive_space(head, size); }) {}

  // Any thread; one of the two, once.
  void serve(Accept accept, std::shared_ptr<const void> lease);
  std::future<Status> open(const std::string& host, std::shared_ptr<proto::ChannelHandler> handler);

  // Any thread.
  Sender& sender() { return *sender_; }
  const std::string& peer() const { return socket_->peer(); }
  const proto::PeerSecurity& peer_security() const { return socket_->peer_security(); }
  bool shares_memory() const { return upgrade_.shares_memory(); }
  void detach() {  // the channel was destroyed
    gate_.shut();
    abort(cancelled("the channel was destroyed"));
  }
  void abort(Status why) override;

 private:
  enum class Stage { handshake, open, lingering, finished };

  void start();
  void secure();
  void read();
  void on_readable();
  bool pauses_for_answers();
  bool exceeds_unauthenticated_limit(std::size_t more);
  void digest();
  void take_events();
  void do_handshake();
  void enter();
  void set_opened(const Status& status);  // Sets opened_ of a client, once.
  bool is_repeated_hello(const SharedBytes& message);
  void on_event(const Inbox::Event& event);
  void on_close_frame(const ws::CloseReason& reason);
  void refuse(Status why);
  void fail(const char* why);
  void finish(Status why);
  void tick_later();
  void tick() override;

  const WebSocketOptions options_;
  const Role role_;
  const std::shared_ptr<LoopSocket> socket_;
  const std::shared_ptr<Sender> sender_;
  HandlerGate gate_;

  Stage stage_ = Stage::handshake;
  Upgrade upgrade_;
  Inbox inbox_;
  Clock::time_point last_seen_;  // when the peer last sent something, or read what was sent
  bool is_paused_ = false;       // reading is paused while answers wait
  StallWatch stall_;
  StallWatch arrival_;               // on a server, watches a message that has begun
  std::uint64_t written_bytes_ = 0;  // bytes already reported to stall_
  std::uint64_t written_then_ = 0;   // bytes written when the peer last read something
  std::shared_ptr<const void> lease_;
  std::size_t unauthenticated_bytes_ = 0;  // received by a server before its handler accepted a hello
  SharedBytes hello_in_request_;           // the hello in the client's request; until the first message has arrived
  // Set until the handshake is done. A server's:
  Accept accept_;
  // A client's:
  std::promise<Status> opened_;
  bool is_opened_set_ = false;
  std::shared_ptr<proto::ChannelHandler> handler_;
  std::string host_;  // the host named in its request
};

class ConnectionChannel final : public proto::Channel {
 public:
  explicit ConnectionChannel(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}
  ~ConnectionChannel() override { connection_->detach(); }

  void send(proto::EncodedFrame frame, proto::Lane lane) override {
    connection_->sender().send(std::move(frame), lane);
  }
  void begin_burst() override { connection_->sender().begin_burst(); }
  void end_burst() override { connection_->sender().end_burst(); }
  void flush() override { connection_->sender().flush(); }
  void close() override { connection_->sender().close(); }
  std::size_t queued_bytes() const override { return connection_->sender().queued_bytes(); }
  std::string peer() const override { return connection_->peer(); }
  proto::PeerSecurity peer_security() const override { return connection_->peer_security(); }
  bool is_shared_memory() const override { return connection_->shares_memory(); }

 private:
  const std::shared_ptr<Connection> connection_;
};

}  // namespace burn::net::ws
