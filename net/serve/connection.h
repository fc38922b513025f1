// One client of a server: speaks burn.v1 over its channel and has a session of the host behind it.
//
// A frame that breaks the protocol's rules ends the connection with a Close that names it; a request that merely
// cannot be fulfilled fails alone. When the channel closes, in whatever way, the session stops and frees its memory.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "net/serve/bulk.h"
#include "net/serve/session_host.h"
#include "proto/channel.h"

namespace burn::net {

class Connection : public proto::ChannelHandler, public std::enable_shared_from_this<Connection> {
 public:
  // Called from on_closed; must not block. The receiver should call dispose(), from another thread.
  using Ended = std::function<void(std::shared_ptr<Connection>)>;

  Connection(std::shared_ptr<proto::Channel> channel, std::shared_ptr<SessionHost> host, Ended ended);
  ~Connection() override;

  // From the channel.
  void on_frame(SharedBytes frame) override;
  std::size_t max_frame_bytes() const override { return session_ ? proto::kMaxFrameBytes : proto::kMaxHelloBytes; }
  proto::ReceiveSpace receive_space(std::span<const std::byte> head, std::uint64_t size) override;
  void on_frame_in_place(SharedBytes head, SharedBytes rest) override;
  void on_closed(Status why) override;

  // The following from any thread.

  // Takes no further work; what has come is still executed and answered.
  void drain() { draining_ = true; }
  // Everything that has come is executed,
  bool is_caught_up() const { return acknowledged_ == received_; }
  // and the answers are on their way.
  bool is_idle() const;
  // Tells the client why, and closes. Nothing more is sent or taken.
  void end(const Status& why);
  // Waits for the session's end. Requires: not from a thread of the channel or the session.
  void dispose();

  bool is_welcome() const { return welcome_; }  // the handshake is done
  std::chrono::steady_clock::time_point since() const { return since_; }

 private:
  void serve(Result<proto::Frame> frame);
  void handshake(const proto::Body& body);
  Status take_turn(const proto::Frame& frame);
  Status dispatch(proto::Frame frame);
  Status perform(proto::Frame& frame, proto::DefineProgram& define);
  Status perform(proto::Frame& frame, proto::RunProgram& run);
  Status perform(proto::Frame& frame, proto::Write& write);
  Status perform(proto::Frame& frame, proto::Chunk& chunk);
  Status perform(proto::Frame& frame, proto::Read& read);
  Status perform(proto::Frame& frame, proto::Release& release);
  Status perform(proto::Frame& frame, proto::Sync& sync);
  Status perform(proto::Frame& frame, proto::Credit& credit);
  Status perform(proto::Frame& frame, proto::Close& close);
  template <typename Other>  // what only a server sends, and a second Hello
  Status perform(proto::Frame& frame, Other& other);

  void answer(std::uint64_t request, Result<proto::HostTensor> tensor);
  void send(proto::Body body, SharedBytes payload = {});
  void acknowledge(std::uint64_t executed);
  void log_end(const Status& why) const;

  const std::shared_ptr<proto::Channel> channel_;
  const std::shared_ptr<SessionHost> host_;
  const Ended ended_callback_;
  const std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  const std::string peer_;

  SessionHost::Admission admission_;               // outlives the session
  std::unique_ptr<proto::ServedSession> session_;  // set by the hello, before welcome_
  std::uint64_t max_in_flight_ = 0;                // the session's
  BulkReceiver receiver_;                          // of the channel's thread
  BulkSender sender_;
  std::atomic<std::uint64_t> received_ = 0;      // the last ordered frame
  std::atomic<std::uint64_t> acknowledged_ = 0;  // the last one executed
  std::atomic<std::uint64_t> unanswered_ = 0;    // reads and syncs: a device may answer long after they are executed
  std::atomic<bool> welcome_ = false, draining_ = false, ended_ = false;
};

}  // namespace burn::net
