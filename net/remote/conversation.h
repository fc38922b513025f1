// The client's half of burn.v1 on one channel: hello, numbering, window, credit, answers, and the one end it has.
//
// Two kinds of threads meet here: callers, who may wait for the window, and the channel's thread, which never waits. It
// runs the callbacks, so what callbacks call must not wait either: what they send beyond the window is kept until there
// is room.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "net/remote/remote_session.h"
#include "net/remote/requests.h"
#include "net/remote/upload_queue.h"
#include "proto/channel.h"

namespace burn::net {

// Makes the channel that frames travel on; connect_channel, or a test's own.
using ChannelFactory = std::function<Result<std::shared_ptr<proto::Channel>>(std::shared_ptr<proto::ChannelHandler>,
                                                                             std::chrono::milliseconds timeout)>;

// connect() over any channel. `url` is for messages.
Result<std::unique_ptr<RemoteSession>> connect_over(const ChannelFactory& factory, const std::string& url,
                                                    const ConnectOptions& options = {});

// Thread-safe, except that start() comes first.
class Conversation final : public proto::ChannelHandler, public std::enable_shared_from_this<Conversation> {
 public:
  // Upload bytes that may wait here for credit; beyond it write() waits.
  static constexpr std::uint64_t kMaxWaitingBytes = std::uint64_t{64} << 20;
  // Upload bytes that may be at the server before it has executed what was sent before them; beyond it write() waits,
  // too.
  static constexpr std::uint64_t kMaxUnexecutedBytes = std::uint64_t{256} << 20;

  // `device`: which of the server's it is about.
  explicit Conversation(std::string url, std::uint32_t device = 0) : url_(std::move(url)), device_(device) {}

  // Sends Hello on the new channel and waits for Welcome.
  Status start(std::shared_ptr<proto::Channel> channel, const ConnectOptions& options,
               std::chrono::steady_clock::time_point deadline);

  // Sends an ordered frame when it is within the window. `upload`: the chunks that belong to it, if it is a Write.
  Status send(proto::Body body, SharedBytes payload = {}, SharedBytes upload = {});
  // The same for a question: `done` is registered, and called even if this fails.
  void ask_read(proto::TensorId id, Requests::ReadCallback done);
  void ask_sync(Requests::SyncCallback done);
  // What is sent between them may leave together.
  void begin_burst();
  void end_burst();
  // Sends a Close and waits for the end, unless it is called from a callback.
  void close();

  const proto::SessionInfo& info() const { return info_; }
  WireStats stats() const;
  Status health() const;

  void on_frame(SharedBytes bytes) override;
  proto::ReceiveSpace receive_space(std::span<const std::byte> head, std::uint64_t size) override;
  void on_frame_in_place(SharedBytes head, SharedBytes rest) override;
  void on_closed(Status why) override;

 private:
  struct Ordered {
    std::uint64_t seq = 0;
    proto::EncodedFrame frame;
    std::optional<proto::TensorId> upload_id;
    SharedBytes upload;
  };

  void on_any_frame(Result<proto::Frame> frame, std::size_t bytes);
  Status dispatch(proto::Frame frame);
  Status on_welcome(const proto::Welcome& welcome);
  Status on_ack(std::uint64_t seq);
  Status on_chunk(const proto::Chunk& chunk, std::span<const std::byte> bytes);
  Status complete(Result<Completion> completion);
  void end(const Status& why);

  // With the lock held.
  std::uint64_t unacknowledged() const { return last_seq_ - acknowledged_; }
  bool has_room(std::uint64_t upload_bytes) const;
  Status send_locked(std::unique_lock<std::mutex>& lock, proto::Body body, SharedBytes payload, SharedBytes upload);
  void send_what_fits();
  void transmit(proto::EncodedFrame frame, proto::Lane lane);

  const std::string url_;
  const std::uint32_t device_;
  proto::SessionInfo info_;  // set by the welcome
  Requests requests_;
  std::uint64_t consumed_ = 0;  // bytes of downloads not yet granted again; of the channel's thread

  mutable std::mutex mutex_;
  std::condition_variable changed_;  // the window, the uploads, and the stages below
  std::shared_ptr<proto::Channel> channel_;
  std::deque<Ordered> waiting_;  // numbered, beyond the window
  UploadQueue uploads_;
  std::deque<std::pair<std::uint64_t, std::uint64_t>> unexecuted_;  // the seq and bytes of uploads not acknowledged
  std::uint64_t unexecuted_bytes_ = 0;
  std::uint64_t last_seq_ = 0;
  std::uint64_t acknowledged_ = 0;
  bool welcome_ = false;
  std::optional<Status> broken_;  // why everything fails from now on
  bool closed_ = false;           // the channel is gone and every callback has been called

  struct {
    std::atomic<std::uint64_t> frames_sent = 0, bytes_sent = 0, frames_received = 0, bytes_received = 0;
    std::atomic<std::uint64_t> programs_sent = 0, runs_sent = 0;
  } counts_;
};

}  // namespace burn::net
