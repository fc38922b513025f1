// One connection of a client to a server. Speaks burn.v1 over its channel, performs the handshake, and links the
// channel to a session of the host: a new one, or one that the client resumes.
//
// A frame that breaks the protocol's rules ends the connection and the session with a Close that says why; a request
// that merely cannot be fulfilled fails alone. When the channel is lost the session is kept for its lease, if it has
// one. Otherwise it stops and frees its memory, as it does after a Close.
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

class Handshake;

class Connection : public proto::ChannelHandler, public ServedLink, public std::enable_shared_from_this<Connection> {
 public:
  // Called once, when no more frames arrive; must not block. It must have dispose() called, from another thread.
  using Ended = std::function<void(std::shared_ptr<Connection>)>;

  // `full`: ok, or why there is no place for a new session; an existing one may be resumed all the same.
  Connection(std::shared_ptr<proto::Channel> channel, std::shared_ptr<SessionHost> host, Ended ended, Status full = {});
  ~Connection() override;

  // Called by the channel, one call at a time.
  void on_frame(SharedBytes frame) override;
  std::size_t max_frame_bytes() const override { return conversation_ ? proto::kMaxFrameBytes : proto::kMaxHelloBytes; }
  proto::ReceiveSpace receive_space(std::span<const std::byte> head, std::uint64_t size) override;
  void on_frame_in_place(SharedBytes head, SharedBytes rest) override;
  void on_closed(Status why) override;

  // The following may be called from any thread.

  std::shared_ptr<proto::Channel> channel() const override;  // null after dispose()
  void supersede() override;
  // Accepts no further work; what was received is still executed and answered.
  void drain();
  // Tells the session's client once, if it takes notices, that the server ends the session at `end`. Without a session
  // does nothing.
  void announce_end(std::chrono::steady_clock::time_point end);
  bool takes_notices() const;  // whether the client takes notices; false before the handshake and after the end
  // Whether everything received is executed.
  bool is_caught_up() const;
  // Whether, in addition, all answers are sent.
  bool is_idle() const;
  // Tells the client why, and closes the channel. Nothing more is sent or accepted.
  void end(const Status& why) override;
  // Drops the channel, and waits for the session's end if it is ending. Must not be called on a thread of the channel
  // or the session.
  void dispose();

  bool is_welcome() const { return is_welcome_; }  // the handshake is done
  // Its conversation, the session's name, and the session's tenant. Requires: is_welcome().
  const ServedConversation& conversation() const { return *conversation_; }
  const std::string& session_name() const { return conversation_->terms().name; }
  const std::string& tenant() const { return conversation_->terms().tenant; }
  std::chrono::steady_clock::time_point since() const { return since_; }  // when it was accepted

 private:
  void serve(Result<proto::Frame> frame);
  void handshake(const proto::Body& first);
  void open_session(const Handshake& handshake);
  void resume_session(const Handshake& handshake, const proto::Resume& resume);
  void on_close(const Status& why);

  void end_session();
  void tell_ended();
  // Reports the end of a session, or of a connection without one: the log's line, and the host's count.
  void tell_host_end(const Status& why, SessionEnd how) const;
  void log_loss(const Status& why) const;

  mutable std::mutex channel_mutex_;
  std::shared_ptr<proto::Channel> channel_;  // Guarded by `channel_mutex_`.
  const std::shared_ptr<SessionHost> host_;
  const Ended on_end_;
  const Status full_;
  const std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  const Caller caller_;

  // Set by the channel's thread in the handshake, before is_welcome_; other threads read it after that.
  std::shared_ptr<ServedConversation> conversation_;
  std::atomic<bool> is_welcome_ = false, is_draining_ = false, has_ended_ = false, is_superseded_ = false,
                    has_told_end_ = false, has_announced_end_ = false;
};

// A log line for the operator: what the session has done, and why it ended.
std::string describe_end(const ServedConversation& conversation, std::string_view reason);
// The same for the audit log.
void audit_end(SessionHost& host, const ServedConversation& conversation, std::string_view reason,
               std::string_view peer = {});

}  // namespace burn::net
