// The client's half of burn.v1: hello, numbering, window, credit, answers, and the one end it has. It takes place on
// one channel after the other: when one is lost, and the session has a lease, a thread made for it dials again, and
// what was not confirmed is sent again. What is said before the first welcome is kept until then.
//
// Two kinds of threads meet here: callers, which may wait for the window, and the channel's thread, which never waits.
// It runs the callbacks, so what callbacks call must not wait either: what they send beyond the window is kept until
// there is room.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/remote/ordered_frames.h"
#include "net/remote/progress_timeout.h"
#include "net/remote/remote_session.h"
#include "net/remote/requests.h"
#include "net/remote/upload_queue.h"
#include "net/remote/watchdog.h"
#include "proto/channel.h"
#include "proto/verbs.h"

namespace burn::net {

// Makes the channel that frames travel on; connect_channel, or a test's own.
using ChannelFactory = std::function<Result<std::shared_ptr<proto::Channel>>(std::shared_ptr<proto::ChannelHandler>,
                                                                             std::chrono::milliseconds timeout)>;

// connect() over any channel. `url` is for messages.
Result<std::unique_ptr<RemoteSession>> connect_over(const ChannelFactory& factory, const std::string& url,
                                                    const ConnectOptions& options = {});

using Clock = std::chrono::steady_clock;

// Thread-safe, except that start() comes first.
class Conversation final : public proto::ChannelHandler,
                           public Watched,
                           public std::enable_shared_from_this<Conversation> {
 public:
  // Upload bytes that may wait here for credit; beyond it write() waits.
  static constexpr std::uint64_t kMaxWaitingBytes = std::uint64_t{64} << 20;
  // Upload bytes that may be at the server before it has executed what was sent before them; beyond it write() waits,
  // too.
  static constexpr std::uint64_t kMaxUnexecutedBytes = std::uint64_t{256} << 20;

  // Bytes of ordered frames that may be kept until they are executed; beyond it calls wait.
  static constexpr std::uint64_t kMaxKeptBytes = std::uint64_t{64} << 20;
  // Ordered frames that may be kept before the server has said how many it takes.
  static constexpr std::uint64_t kMaxBeforeWelcome = 1024;

  // `device`: which of the server's it is about. `dial`: makes the channels. `tries_again`: if the first is lost before
  // the welcome.
  Conversation(std::string url, std::uint32_t device, ChannelFactory dial, const ConnectOptions& options,
               bool tries_again);

  // Dials, says hello and waits for the welcome, as long as the options say.
  Status start();

  // Sends an ordered frame when it is within the window. `upload`: the chunks that belong to it, if it is a Write.
  Status send(proto::Body body, SharedBytes payload = {}, SharedBytes upload = {});
  // The same for a question: `done` is registered, and called even if this fails.
  void ask_read(proto::TensorId id, Requests::ReadCallback done);
  void ask_sync(Requests::SyncCallback done);
  // Beside the order: not within the window, and asked again after a lost connection. Refused if the server does not
  // know the Question, which is made of the number that its answer, a Report, will name.
  template <typename Question, proto::Report Report, typename Done>
  void ask_beside(Done done) {
    ask_beside(
        proto::kVerbOf<Question>,
        [&](Requests::BesideCallback callback) {
          return requests_.add_beside<Report>([](std::uint64_t request) { return Question{request}; },
                                              std::move(callback));
        },
        [done = std::move(done)](Result<proto::Body> answer) {
          answer.ok() ? done(std::get<Report>(*std::move(answer))) : done(answer.status());
        });
  }
  // What is sent between them may leave together.
  void begin_burst();
  void end_burst();
  // Sends a Close and waits for the end; not from a callback, and not if nothing is under way and the server is far:
  // then it suffices that the Close has left.
  void close();

  const proto::SessionInfo& info() const;        // waits for the welcome, or that none will come: then of nothing
  const proto::SessionInfo* known_info() const;  // null before
  bool is_shared_memory() const { return is_shared_memory_; }
  WireStats stats() const;
  Status health() const;
  // What the last handshake took, which is a round trip and hardly more; 0 before the welcome.
  std::chrono::nanoseconds round_trip() const { return std::chrono::nanoseconds{round_trip_}; }

  std::optional<proto::EncodedFrame> greeting() override;
  void on_frame(SharedBytes bytes) override;
  proto::ReceiveSpace receive_space(std::span<const std::byte> head, std::uint64_t size) override;
  void on_frame_in_place(SharedBytes head, SharedBytes rest) override;
  void on_closed(Status why) override;
  void look(Clock::time_point now) override;

 private:
  void ask_beside(const proto::Verb& verb, const std::function<proto::Body(Requests::BesideCallback)>& add,
                  Requests::BesideCallback done);
  void on_any_frame(Result<proto::Frame> frame, std::size_t bytes);
  Status dispatch(proto::Frame frame);
  bool start_connecting();
  Status on_welcome(const proto::Welcome& welcome);
  Status take_welcome(const proto::Welcome& welcome);  // with the lock held, as
  Status begin(const proto::Welcome& welcome);         // these two
  Status go_on(const proto::Welcome& welcome);
  Status on_close(const Status& why);
  Status on_ack(std::uint64_t seq);
  Status on_answer(Result<Completion> completion, std::size_t bytes);
  Status on_credit(const proto::Credit& credit);
  Status on_report(Result<Completion> completion);
  Status on_chunk(const proto::Chunk& chunk, std::span<const std::byte> bytes);
  Status complete(Result<Completion> completion);
  void confirm(std::uint64_t bytes, bool at_once);
  void count_progress(std::uint64_t bytes);
  void count_progress() { whole_progress_.store(true, std::memory_order_relaxed); }
  void end(const Status& why);
  void end_without_channel(const Status& why);

  // The thread that dials for the first time, the thread that dials again, and what both do until `deadline` at most.
  void connect();
  void redial();
  Status try_to_connect(Clock::time_point deadline);
  Status try_again(Clock::time_point deadline);

  // With the lock held.
  void attach(std::shared_ptr<proto::Channel> channel);
  bool is_at_rest() const;
  bool may_leave() const;
  bool has_said_all() const;
  bool watches_the_end();
  bool can_resume() const { return lease_.count() > 0; }
  bool start_redialling();
  void give_up(std::unique_lock<std::mutex>& lock);
  Status acknowledged(std::uint64_t seq);
  bool is_waiting() const;
  proto::Hello hello() const;
  Status check_known(const proto::Verb& verb) const;  // by the server, as far as is known
  bool has_room(std::uint64_t upload_bytes) const;
  Status send_locked(std::unique_lock<std::mutex>& lock, proto::Body body, SharedBytes payload, SharedBytes upload);
  void send_what_fits();
  void send_chunks();
  void transmit(proto::EncodedFrame frame, proto::Lane lane);

  const std::string url_;
  const std::uint32_t device_;
  const ChannelFactory dial_;
  const ConnectOptions options_;
  const bool tries_again_;
  const std::chrono::seconds answer_timeout_;  // 0: none; before progress_timeout_
  proto::SessionInfo info_;                    // set by the first welcome, before
  std::atomic<bool> is_known_ = false;         // this
  std::atomic<bool> is_shared_memory_ = false;
  Requests requests_;
  std::atomic<std::int64_t> round_trip_ = 0;  // in ns

  // Of the channel's thread:
  std::uint64_t consumed_ = 0;           // bytes of downloads not yet granted again
  std::uint64_t confirmed_answers_ = 0;  // in a frame of their own
  std::uint64_t unconfirmed_bytes_ = 0;  // of answers since

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;  // the window, the uploads, and the stages below
  std::shared_ptr<proto::Channel> channel_;
  std::uint64_t extensions_ = 0;  // of the last welcome
  OrderedFrames frames_;
  UploadQueue uploads_;
  std::deque<std::pair<std::uint64_t, std::uint64_t>> unexecuted_;  // the seq and bytes of uploads not acknowledged
  std::uint64_t unexecuted_bytes_ = 0;
  std::uint64_t last_question_ = 0, last_work_ = 0;  // the seq of: work is what close() waits for (Verb::is_awaited)
  Clock::time_point hello_at_;
  std::size_t greeting_bytes_ = 0;  // of the hello that a transport has asked for
  // What is to be sent on a channel whose transport has greeted, and which we are not yet given.
  std::vector<std::pair<proto::EncodedFrame, proto::Lane>> unattached_;
  bool welcome_ = false;                      // on this channel
  std::optional<Status> broken_;              // why everything fails from now on
  bool closed_ = false;                       // the channel is gone and every callback has been called
  std::atomic<bool> in_frame_ = false;        // the channel's thread is at one, and in callbacks
  std::optional<Clock::time_point> left_at_;  // when close() has not waited for the end
  bool connecting_ = true;                    // until the first welcome, or that none will come
  bool closing_ = false;                      // close() was called

  // A lost connection:
  std::chrono::seconds lease_{0};  // 0: the session ends with it
  proto::Resume session_;          // which it is
  bool redialling_ = false;        // a thread is at it
  std::uint64_t losses_ = 0;       // of channels, before and after their welcome
  Status lost_why_;
  Clock::time_point lost_at_;

  // What has come of what is waited for, since the watchdog last looked: something whole, and bytes.
  std::atomic<bool> whole_progress_ = false;
  std::atomic<std::uint64_t> progress_bytes_ = 0;
  ProgressTimeout progress_timeout_;  // of the watchdog's thread

  struct {
    std::atomic<std::uint64_t> frames_sent = 0, bytes_sent = 0, frames_received = 0, bytes_received = 0;
    std::atomic<std::uint64_t> resumes = 0, frames_resent = 0;
    std::array<std::atomic<std::uint64_t>, proto::kVerbs.size()> sent = {};  // ordered frames by verb, each once
  } counts_;
};

}  // namespace burn::net
