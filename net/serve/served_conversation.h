// The server's half of a conversation after its hello: a session, and what has come and gone of it. It takes place over
// one connection at a time, and ends with that unless its client has a lease (docs/sessions.md).
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

// A connection as a conversation sees it. Called without a lock; must not block.
class ServedLink {
 public:
  virtual ~ServedLink() = default;
  virtual std::shared_ptr<proto::Channel> channel() const = 0;
  // Tells the client why, and closes.
  virtual void end(const Status& why) = 0;
  // The client goes on over another one; this one is not heard any more.
  virtual void supersede() = 0;
};

// Thread-safe. Frames come from the connection's thread; those of a connection that is not the last one are ignored.
class ServedConversation {
 public:
  using Clock = std::chrono::steady_clock;
  struct Terms {
    std::string name;  // for logs, and to come back
    std::string secret;
    std::chrono::seconds lease{0};                    // without a connection; 0: it ends with that
    std::shared_ptr<const void> admission = nullptr;  // of the host, until the session's memory is free
    std::string tenant = "default", proof = "none";   // that the session belongs to, and as net::Identity has it
  };

  ServedConversation(std::unique_ptr<proto::ServedSession> session, Terms terms);
  ~ServedConversation();
  ServedConversation(const ServedConversation&) = delete;
  ServedConversation& operator=(const ServedConversation&) = delete;

  const Terms& terms() const { return terms_; }
  Clock::time_point since() const { return since_; }  // when the session began
  bool is_secret(const std::string& secret) const;    // takes as long for any of that size

  // Says `welcome` on `link`, and goes on there.
  void begin(std::shared_ptr<ServedLink> link, proto::Welcome welcome);
  // The same for a client that comes back. Errors: NOT_FOUND when it is over; INVALID_ARGUMENT for a client that has
  // seen what was not said.
  Status resume(std::shared_ptr<ServedLink> link, proto::Welcome welcome, const proto::Resume& seen);
  // The link is lost, or has said its Close: then `for_good`. False: another one had taken its place.
  bool leave(const ServedLink& link, bool for_good);

  // From a link: a frame, where a chunk's bytes should go, and that no further work is taken. An error ends the
  // connection and the session.
  Status on_frame(const ServedLink& link, proto::Frame frame);
  std::shared_ptr<std::byte> destination(const ServedLink& link, const proto::ChunkHead& chunk);
  void drain() { draining_ = true; }
  // The server ends the session at `end`, as a client that takes notices is told, now or when it says that it does.
  void announce_end(Clock::time_point end) { verbs_.announce_end(end); }
  bool takes_notices() const { return verbs_.takes_notices(); }

  // When it was left without a connection, if it was.
  std::optional<Clock::time_point> lost_at() const;
  bool is_over() const;
  // Ends it unless it has a connection (again): false.
  bool end_if_lost();
  bool is_caught_up() const { return acknowledged_ == received_; }  // everything that has come is executed,
  bool is_idle() const;                                             // and the answers are on their way
  // Ends the session without waiting, and waits for its end. The second: not from a thread of a channel or the session.
  void begin_end();
  void dispose();

  struct Counts {
    std::uint64_t resumes = 0, duplicates = 0;  // duplicates: ordered frames that came again and were dropped
    proto::SessionStats session;
  };
  Counts counts() const;
  const proto::SessionInfo& info() const { return session_->info(); }

 private:
  Status take_turn(const proto::Frame& frame, bool* is_duplicate);
  void acknowledge(std::uint64_t executed);
  void check(const Status& said) { verbs_.check(said); }
  void end_link(const Status& why);  // the session, where there is no link

  const Terms terms_;
  const Clock::time_point since_ = Clock::now();
  const std::unique_ptr<proto::ServedSession> session_;
  const std::uint64_t max_in_flight_;
  Answers answers_;
  std::atomic<std::uint64_t> received_ = 0;      // the last ordered frame
  std::atomic<std::uint64_t> acknowledged_ = 0;  // the last one executed
  std::atomic<std::uint64_t> resumes_ = 0, duplicates_ = 0;
  std::atomic<bool> draining_ = false;

  std::mutex receiving_;  // one frame at a time, whichever link it comes from: over verbs_ as far as it takes frames
  VerbHandler verbs_;

  mutable std::mutex linking_;  // after receiving_; held for moments
  std::shared_ptr<ServedLink> link_;
  std::optional<Clock::time_point> lost_at_;
  bool is_over_ = false;
};

}  // namespace burn::net
