// One connection of a client of a server: speaks burn.v1 over its channel, shakes hands, and is the link to a session
// of the host, a new one or one that the client comes back to.
//
// A frame that breaks the protocol's rules ends the connection and the session with a Close that names it; a request
// that merely cannot be fulfilled fails alone. When the channel is lost the session is kept for its lease, if it has
// one; else it stops and frees its memory, as it does at a Close.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "net/serve/served_conversation.h"
#include "net/serve/session_host.h"
#include "proto/channel.h"

namespace burn::net {

class Connection : public proto::ChannelHandler, public ServedLink, public std::enable_shared_from_this<Connection> {
 public:
  // Called once, when nothing more comes; must not block. The receiver should call dispose(), from another thread.
  using Ended = std::function<void(std::shared_ptr<Connection>)>;

  // `full`: why there is no place for a new session; one that there is may be come back to all the same.
  Connection(std::shared_ptr<proto::Channel> channel, std::shared_ptr<SessionHost> host, Ended ended, Status full = {});
  ~Connection() override;

  // From the channel.
  void on_frame(SharedBytes frame) override;
  std::size_t max_frame_bytes() const override { return conversation_ ? proto::kMaxFrameBytes : proto::kMaxHelloBytes; }
  proto::ReceiveSpace receive_space(std::span<const std::byte> head, std::uint64_t size) override;
  void on_frame_in_place(SharedBytes head, SharedBytes rest) override;
  void on_closed(Status why) override;

  // The following from any thread.

  std::shared_ptr<proto::Channel> channel() const override;  // null once it is disposed of
  void supersede() override;
  // Takes no further work; what has come is still executed and answered.
  void drain();
  // Everything that has come is executed,
  bool is_caught_up() const;
  // and the answers are on their way.
  bool is_idle() const;
  // Tells the client why, and closes. Nothing more is sent or taken.
  void end(const Status& why) override;
  // Drops the channel, and waits for the session's end if it is over. Requires: not from a thread of the channel or the
  // session.
  void dispose();

  bool is_welcome() const { return welcome_; }  // the handshake is done
  std::chrono::steady_clock::time_point since() const { return since_; }

 private:
  void serve(Result<proto::Frame> frame);
  void handshake(const proto::Body& body);
  void come_back(const proto::Resume& resume);
  void on_goodbye(const Status& why);
  proto::Welcome welcome() const;

  void end_session();
  void tell_ended();
  void log_end(const Status& why) const;
  void log_loss(const Status& why) const;

  mutable std::mutex channel_mutex_;
  std::shared_ptr<proto::Channel> channel_;
  const std::shared_ptr<SessionHost> host_;
  const Ended ended_callback_;
  const Status full_;
  const std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  const std::string peer_;

  std::shared_ptr<ServedConversation> conversation_;  // set by the hello, before welcome_
  std::atomic<bool> welcome_ = false, draining_ = false, ended_ = false, superseded_ = false, told_ = false;
};

// A line for the operator: what the session has done, and why it is over.
std::string describe_end(const ServedConversation& conversation, std::string_view reason);

}  // namespace burn::net
