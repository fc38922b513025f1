// The server's half of a conversation after its hello: a session, and the state of the frames received and sent. It
// uses one connection at a time, and ends with that connection unless its client has a lease (docs/sessions.md).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/status.h"
#include "net/serve/answers.h"
#include "net/serve/verb_handler.h"
#include "proto/channel.h"
#include "proto/served_session.h"

namespace burn::net {

// A connection as a conversation uses it. Called without a lock; must not block.
class ServedLink {
 public:
  virtual ~ServedLink() = default;
  virtual std::shared_ptr<proto::Channel> channel() const = 0;
  // Tells the client why, and closes.
  virtual void end(const Status& why) = 0;
  // The client continues over another connection; frames of this one are ignored from now on.
  virtual void supersede() = 0;
};

// Thread-safe. Frames come from the connection's thread; those of a superseded connection are ignored.
class ServedConversation {
 public:
  using Clock = std::chrono::steady_clock;
  struct Terms {
    std::string name;  // for logs, and to resume the session
    std::string secret;
    std::chrono::seconds lease{0};                    // time without a connection; 0: it ends with that
    std::shared_ptr<const void> admission = nullptr;  // of the host, held until the session's memory is freed
    std::string tenant = "default", proof = "none";   // the session's tenant; `proof` as in net::Identity
  };

  ServedConversation(std::unique_ptr<proto::ServedSession> session, Terms terms);
  ~ServedConversation();
  ServedConversation(const ServedConversation&) = delete;
  ServedConversation& operator=(const ServedConversation&) = delete;

  const Terms& terms() const { return terms_; }
  Clock::time_point since() const { return since_; }  // when the session began
  bool is_secret(const std::string& secret) const;    // constant time for secrets of the right size

  // Sends `welcome` on `link`, and continues there.
  void begin(std::shared_ptr<ServedLink> link, proto::Welcome welcome);
  // The same for a client that resumes. Errors: NOT_FOUND when the session has ended; INVALID_ARGUMENT for a client
  // that claims to have seen what was not sent.
  Status resume(std::shared_ptr<ServedLink> link, proto::Welcome welcome, const proto::Resume& seen);
  // The link is lost, or has received or sent a Close; then `for_good`. Returns false if another link has already
  // replaced it.
  bool leave(const ServedLink& link, bool for_good);

  // Called by a link: with a frame; for the memory that receives a chunk's bytes; and to accept no further work. An
  // error ends the connection and the session.
  Status on_frame(const ServedLink& link, proto::Frame frame);
  std::shared_ptr<std::byte> destination(const ServedLink& link, const proto::ChunkHead& chunk);
  void drain() { draining_ = true; }
  // The server ends the session at `end`. A client that takes notices is told now, others when they say that they take
  // notices.
  void announce_end(Clock::time_point end) { verbs_.announce_end(end); }
  bool takes_notices() const { return verbs_.takes_notices(); }

  // When it last lost its connection, or std::nullopt if it has one.
  std::optional<Clock::time_point> lost_at() const;
  bool is_over() const;
  // Ends the session and returns true, or returns false if it has a connection again.
  bool end_if_lost();
  bool is_caught_up() const { return acknowledged_ == received_; }  // everything received is executed
  bool is_idle() const;                                             // and all answers are sent
  // begin_end() ends the session without waiting. dispose() also waits for the end; it must not be called on a thread
  // of a channel or the session.
  void begin_end();
  void dispose();

  struct Counts {
    std::uint64_t resumes = 0, duplicates = 0;  // duplicates: ordered frames that arrived again and were dropped
    proto::SessionStats session;
  };
  Counts counts() const;
  const proto::SessionInfo& info() const { return session_->info(); }

 private:
  Status take_turn(const proto::Frame& frame, bool* is_duplicate);
  void acknowledge(std::uint64_t executed);
  void check(const Status& said) { verbs_.check(said); }
  void end_link(const Status& why);  // ends the session if there is no link

  const Terms terms_;
  const Clock::time_point since_ = Clock::now();
  const std::unique_ptr<proto::ServedSession> session_;
  const std::uint64_t max_in_flight_;
  Answers answers_;
  std::atomic<std::uint64_t> received_ = 0;      // seq of the last ordered frame
  std::atomic<std::uint64_t> acknowledged_ = 0;  // seq of the last one executed
  std::atomic<std::uint64_t> resumes_ = 0, duplicates_ = 0;
  std::atomic<bool> draining_ = false;

  std::mutex receiving_;  // one frame at a time, from any link; guards the part of verbs_ that handles frames
  VerbHandler verbs_;

  mutable std::mutex linking_;  // locked after receiving_; held briefly
  std::shared_ptr<ServedLink> link_;
  std::optional<Clock::time_point> lost_at_;
  bool is_over_ = false;
};

}  // namespace burn::net
