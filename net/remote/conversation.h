// The client's half of burn.v1, from the hello to the one end it has. It takes place on one channel after the other:
// when one is lost, and the session has a lease, a thread made for it dials again, and what was not confirmed is sent
// again. What is said before the first welcome is kept until then. Its parts: ClientHandshake, Window, SentRuns,
// Requests, Confirmation, Progress and Reconnector.
//
// Threads: callers of any thread, which may wait for the window; the thread of the channel that there is, which never
// waits and runs the callbacks, so what callbacks call does not wait either, and what they send beyond the window is
// kept until there is room; a thread that dials (connect(), redial()), while there is no channel; the watchdog's
// (look()). No lock is held when a callback is called.
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
  // `device`: which of the server's it is about. `dial`: makes the channels, to one of `addresses`, which is told what
  // comes of them; then a session that is refused or lost before the welcome is asked for again. Null: it is not.
  Conversation(std::string url, DeviceChoice device, ChannelFactory dial, const ConnectOptions& options,
               std::shared_ptr<AddressChoice> addresses);

  // Dials, says hello and waits for the welcome, as long as the options say.
  Status start();

  // Sends an ordered frame when it is within the window. `upload`: the chunks that belong to it, if it is a Write.
  Status send(proto::Body body, SharedBytes payload = {}, SharedBytes upload = {});
  // Sends a Write of which the bytes follow by send_part(), in order. Returns its number. Errors: FAILED_PRECONDITION,
  // if the session may outlive its connection.
  Result<std::uint64_t> announce(proto::Write write);
  Status send_part(std::uint64_t seq, proto::TensorId id, std::uint64_t offset, SharedBytes bytes);
  std::uint64_t waiting_part_bytes() const;  // that are not sent yet
  // The same for a question: `done` is registered, and called even if this fails.
  void ask_read(proto::TensorId id, Requests::ReadCallback done);
  void ask_sync(Requests::SyncCallback done);
  // Beside the order: not within the window, and asked again after a lost connection. Refused if the server does not
  // know the question, whose `request` is set to the number that its answer, a Report, will name.
  template <proto::Report Report, typename Question, typename Done>
  void ask_beside(const Question& question, Done done) {
    ask_beside(
        proto::kVerbOf<Question>,
        [&](Requests::BesideCallback callback) {
          const auto numbered = [&](std::uint64_t request) {
            auto asked = question;
            asked.request = request;
            return proto::Body{std::move(asked)};
          };
          return requests_.add_beside<Report>(numbered, std::move(callback));
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
  void begin_close();  // sends a Close, and does not wait
  void listen(RemoteSession::Listener listener);

  // As proto::Session has it.
  std::optional<std::chrono::steady_clock::time_point> announced_end();

  std::uint64_t op_set() const { return known_info() ? op_set_ : 0; }
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

  // The thread that dials for the first time, the thread that dials again, and what both do until `deadline` at most.
  void connect();
  void redial();
  Status try_to_connect(Clock::time_point deadline);
  Status try_again(Clock::time_point deadline);

  // For the following the caller must hold `mutex_`.

  void attach(std::shared_ptr<proto::Channel> channel);
  Status take_welcome(const proto::Welcome& welcome);
  void begin(const proto::Welcome& welcome);
  Status go_on(const proto::Welcome& welcome);
  std::optional<proto::Resume> resumed_session() const;
  bool is_at_rest() const;
  bool may_leave() const;
  bool has_said_all() const;
  bool watches_the_end();
  bool start_redialling();
  // Whether this thread is to call end() and to set closed_: the first that asks. A second one would set closed_ while
  // callbacks of the first one's end() still run.
  bool take_on_end() { return !std::exchange(is_ending_, true); }
  void give_up(std::unique_lock<std::mutex>& lock);  // without it meanwhile
  Status acknowledged(std::uint64_t seq);
  void take_notices();  // says so, if it is to and can be said
  bool is_waiting() const;
  Status check_known(const proto::Verb& verb) const;  // by the server, as far as is known
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
  std::atomic<bool> in_frame_ = false;        // the channel's thread handles a frame, or is in a callback
  Requests requests_;
  Progress progress_;
  WireCounters counts_;
  Confirmation confirmation_;  // of the channel's thread

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;  // notified when something below changes that is waited for

  std::shared_ptr<const RemoteSession::Listener> listener_;  // Guarded by `mutex_`.
  bool has_sent_parts_ = false;                              // that listener_ was not told of. Guarded by `mutex_`.
  bool has_ended_ = false;                                   // end() was called. Guarded by `mutex_`.
  bool has_told_end_ = false;                                // Guarded by `mutex_`.
  bool is_ending_ = false;                                   // take_on_end() was called. Guarded by `mutex_`.
  std::shared_ptr<proto::Channel> channel_;                  // Guarded by `mutex_`.
  std::uint64_t extensions_ = 0;                             // of the last welcome. Guarded by `mutex_`.
  ClientHandshake handshake_;                                // Guarded by `mutex_`.
  Window window_;                                            // Guarded by `mutex_`.
  SentRuns sent_runs_;                                       // Guarded by `mutex_`.
  Reconnector reconnector_;                                  // Guarded by `mutex_`.
  bool welcome_ = false;                                     // on this channel. Guarded by `mutex_`.
  bool connecting_ = true;                    // until the first welcome, or that none will come. Guarded by `mutex_`.
  bool closing_ = false;                      // close() was called. Guarded by `mutex_`.
  bool closed_ = false;                       // channel gone, every callback called. Guarded by `mutex_`.
  std::optional<Status> refusal_;             // of this try, by a server that sends us elsewhere. Guarded by `mutex_`.
  std::optional<Status> broken_;              // why everything fails from now on. Guarded by `mutex_`.
  std::optional<Clock::time_point> left_at_;  // when close() left before the end. Guarded by `mutex_`.
  bool takes_notices_ = false;                // announced_end() was asked. Guarded by `mutex_`.
  std::optional<Clock::time_point> announced_end_;  // as last said. Guarded by `mutex_`.
};

}  // namespace burn::net
