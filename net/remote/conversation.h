// The client's half of burn.v1, from the hello to its single end. It uses one channel at a time: when a channel is lost
// and the session has a lease, a thread started for it dials again, and unconfirmed frames are sent again. Frames from
// before the first welcome are kept until then. Its parts: ClientHandshake, Window, SentRuns, Requests, Confirmation,
// Progress and Reconnector.
//
// Threads: callers on any thread, which may wait for the window; the thread of the current channel, which never waits
// and runs the callbacks (so calls made by callbacks do not wait either: their frames beyond the window are kept until
// there is room); a thread that dials (connect(), redial()) while there is no channel; the watchdog's thread
// (check_timeouts()). No lock is held when a callback is called.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "net/dial/address_choice.h"
#include "net/remote/client_handshake.h"
#include "net/remote/confirmation.h"
#include "net/remote/progress.h"
#include "net/remote/reconnector.h"
#include "net/remote/remote_session.h"
#include "net/remote/requests.h"
#include "net/remote/sent_runs.h"
#include "net/remote/watchdog.h"
#include "net/remote/window.h"
#include "net/remote/wire_counters.h"
#include "proto/channel.h"
#include "proto/verbs.h"

namespace burn::net {

// Creates the channels that carry the frames: connect_channel, or a test's own function.
using ChannelFactory = std::function<Result<std::shared_ptr<proto::Channel>>(std::shared_ptr<proto::ChannelHandler>,
                                                                             std::chrono::milliseconds timeout)>;

// connect() over any channel. `url`: for messages.
Result<std::unique_ptr<RemoteSession>> connect_over(const ChannelFactory& factory, const std::string& url,
                                                    const ConnectOptions& options = {});

using Clock = std::chrono::steady_clock;

// Thread-safe, except that start() must be called first.
class Conversation final : public proto::ChannelHandler,
                           public Watched,
                           public std::enable_shared_from_this<Conversation> {
 public:
  // `device`: the server's device. `dial`: makes the channels, to one of `addresses`, which learns whether a session
  // resulted; then a session that is refused or lost before the welcome is asked for again. `addresses` null: it is
  // not.
  Conversation(std::string url, DeviceChoice device, ChannelFactory dial, const ConnectOptions& options,
               std::shared_ptr<AddressChoice> addresses);

  // Dials, sends the hello and waits for the welcome, as long as the options say.
  Status start();

  // Sends an ordered frame when it is within the window. `upload`: the chunks of a Write.
  Status send(proto::Body body, SharedBytes payload = {}, SharedBytes upload = {});
  // Sends a Write whose bytes follow by send_part(), in order. Returns its number. Errors: FAILED_PRECONDITION if the
  // session may outlive its connection.
  Result<std::uint64_t> announce(proto::Write write);
  Status send_part(std::uint64_t seq, proto::TensorId id, std::uint64_t offset, SharedBytes bytes);
  std::uint64_t waiting_part_bytes() const;  // bytes of parts that are not sent yet
  // Send a question. `done` is registered, and called even if sending fails.
  void ask_read(proto::TensorId id, Requests::ReadCallback done);
  void ask_sync(Requests::SyncCallback done);
  // Sends a question outside the order of frames: it does not count for the window, and is sent again after a lost
  // connection. Fails if the server does not know the verb. `request` of `question` is set to the number that its
  // answer, a Report, will name.
  template <proto::Report Report, typename Question, typename Done>
  void ask_unordered(const Question& question, Done done) {
    ask_unordered(
        proto::kVerbOf<Question>,
        [&](Requests::UnorderedCallback callback) {
          const auto numbered = [&](std::uint64_t request) {
            auto asked = question;
            asked.request = request;
            return proto::Body{std::move(asked)};
          };
          return requests_.add_unordered<Report>(numbered, std::move(callback));
        },
        [done = std::move(done)](Result<proto::Body> answer) {
          answer.ok() ? done(std::get<Report>(*std::move(answer))) : done(answer.status());
        });
  }
  // Frames sent between the two may leave together.
  void begin_burst();
  void end_burst();
  // Sends a Close and waits for the end. Does not wait when called from a callback; if no work is open and the server
  // is far away, waits only until the Close has left.
  void close();
  void begin_close();  // sends a Close without waiting
  void listen(RemoteSession::Listener listener);

  // As in proto::Session.
  std::optional<std::chrono::steady_clock::time_point> announced_end();

  std::uint64_t op_set() const { return known_info() ? op_set_ : 0; }
  const proto::SessionInfo& info() const;        // waits for the welcome; empty if none will arrive
  const proto::SessionInfo* known_info() const;  // null before the welcome
  bool is_shared_memory() const { return is_shared_memory_; }
  WireStats stats() const;
  Status health() const;
  // Duration of the last handshake, which is hardly more than a round trip; 0 before the welcome.
  std::chrono::nanoseconds round_trip() const { return std::chrono::nanoseconds{round_trip_}; }

  std::optional<proto::EncodedFrame> greeting() override;
  void on_frame(SharedBytes bytes) override;
  proto::ReceiveSpace receive_space(std::span<const std::byte> head, std::uint64_t size) override;
  void on_frame_in_place(SharedBytes head, SharedBytes rest) override;
  void on_closed(Status why) override;
  void check_timeouts(Clock::time_point now) override;

 private:
  void ask_unordered(const proto::Verb& verb, const std::function<proto::Body(Requests::UnorderedCallback)>& add,
                     Requests::UnorderedCallback done);
  void on_any_frame(Result<proto::Frame> frame, std::size_t bytes);
  Status dispatch(proto::Frame frame);
  bool start_connecting();
  Status on_welcome(const proto::Welcome& welcome);
  Status on_close(const proto::Close& close);
  Status on_ack(std::uint64_t seq);
  Status on_answer(Result<Completion> completion, std::size_t bytes);
  Status on_credit(const proto::Credit& credit);
  Status on_report(Result<Completion> completion);
  Status on_chunk(const proto::Chunk& chunk, std::span<const std::byte> bytes);
  Status complete(Result<Completion> completion);
  Status on_notice(const proto::Notice& notice);
  void confirm(std::uint64_t bytes, bool at_once);
  void tell_parts_sent();
  void tell_end();
  void end(const Status& why);
  void end_without_channel(const Status& why);

  // connect() runs on the thread that dials first, redial() on the thread that dials again. The other two make one
  // attempt, until `deadline` at most.
  void connect();
  void redial();
  Status try_to_connect(Clock::time_point deadline);
  Status try_again(Clock::time_point deadline);

  // The following require `mutex_`.

  void attach(std::shared_ptr<proto::Channel> channel);
  Status take_welcome(const proto::Welcome& welcome);
  void begin(const proto::Welcome& welcome);
  Status resume(const proto::Welcome& welcome);
  std::optional<proto::Resume> resumed_session() const;
  bool is_idle() const;
  bool may_close_early() const;
  bool has_sent_everything() const;
  bool watch_close();
  bool start_redialling();
  // Whether this thread has to call end() and set closed_: true for the first caller only. A second one would set
  // closed_ while callbacks of the first one's end() still run.
  bool claim_end() { return !std::exchange(is_ending_, true); }
  void give_up(std::unique_lock<std::mutex>& lock);  // releases the lock meanwhile
  Status acknowledged(std::uint64_t seq);
  void take_notices();  // sends TakeNotices if wanted and possible
  bool is_waiting() const;
  Status check_known(const proto::Verb& verb) const;  // whether the server knows the verb, as far as is known
  Status send_locked(std::unique_lock<std::mutex>& lock, proto::Body body, SharedBytes payload, SharedBytes upload);
  void send_what_fits();
  void send_chunks();
  void transmit(proto::EncodedFrame frame, proto::Lane lane);

  const std::string url_;
  const ChannelFactory dial_;
  const ConnectOptions options_;
  const std::shared_ptr<AddressChoice> addresses_;
  const std::chrono::seconds answer_timeout_;  // 0: none
  proto::SessionInfo info_;                    // set by the first welcome, before is_known_; constant from then on
  std::uint64_t op_set_ = 0;                   // likewise
  std::atomic<bool> is_known_ = false;
  std::atomic<bool> is_shared_memory_ = false;
  std::atomic<std::int64_t> round_trip_ = 0;  // in ns
  std::atomic<bool> in_frame_ = false;        // the channel's thread handles a frame or runs a callback
  Requests requests_;
  Progress progress_;
  WireCounters counts_;
  Confirmation confirmation_;  // used by the channel's thread

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;  // notified when a member below changes that a thread may wait for

  std::shared_ptr<const RemoteSession::Listener> listener_;  // Guarded by `mutex_`.
  bool has_sent_parts_ = false;                              // since listener_ was last called. Guarded by `mutex_`.
  bool has_ended_ = false;                                   // end() was called. Guarded by `mutex_`.
  bool has_told_end_ = false;                                // Guarded by `mutex_`.
  bool is_ending_ = false;                                   // claim_end() was called. Guarded by `mutex_`.
  std::shared_ptr<proto::Channel> channel_;                  // Guarded by `mutex_`.
  std::uint64_t extensions_ = 0;                             // of the last welcome. Guarded by `mutex_`.
  ClientHandshake handshake_;                                // Guarded by `mutex_`.
  Window window_;                                            // Guarded by `mutex_`.
  SentRuns sent_runs_;                                       // Guarded by `mutex_`.
  Reconnector reconnector_;                                  // Guarded by `mutex_`.
  bool welcome_ = false;                                     // received on this channel. Guarded by `mutex_`.
  bool connecting_ = true;                                   // until the first welcome or failure. Guarded by `mutex_`.
  bool closing_ = false;                                     // close() was called. Guarded by `mutex_`.
  bool closed_ = false;                             // no channel, every callback was called. Guarded by `mutex_`.
  std::optional<Status> refusal_;                   // of this try: the server refers us elsewhere. Guarded by `mutex_`.
  std::optional<Status> broken_;                    // why everything fails from now on. Guarded by `mutex_`.
  std::optional<Clock::time_point> left_at_;        // when close() returned early. Guarded by `mutex_`.
  bool takes_notices_ = false;                      // announced_end() was called. Guarded by `mutex_`.
  std::optional<Clock::time_point> announced_end_;  // as last announced. Guarded by `mutex_`.
};

}  // namespace burn::net
