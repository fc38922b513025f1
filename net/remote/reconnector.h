// How a conversation goes on after its connection is lost: which session it resumes, until when it tries, after which
// pauses, and why it gives up.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>

#include "base/status.h"
#include "proto/message.h"

namespace burn::net {

// Pauses between tries to connect again: none at first, then ever longer ones up to two seconds, each by chance up to
// half as long, so that many clients of one server do not come at once.
class Backoff {
 public:
  std::chrono::milliseconds next();

 private:
  static constexpr std::chrono::milliseconds kShortest{20}, kLongest{2000};
  std::chrono::milliseconds pause_{0};
  std::minstd_rand chance_{std::random_device{}()};
};

// Not thread-safe.
class Reconnector {
 public:
  using Clock = std::chrono::steady_clock;

  // From the first welcome on: the session, and how long it may be without a connection. 0: it ends with its
  // connection.
  void begin(proto::Resume session, std::chrono::seconds lease);
  bool can_resume() const { return lease_.count() > 0; }
  std::chrono::seconds lease() const { return lease_; }
  const proto::Resume& session() const { return session_; }

  // A channel is lost, for `why`. `was_welcome`: the session was connected over it until `now`.
  void lose(Status why, bool was_welcome, Clock::time_point now);
  std::uint64_t losses() const { return losses_; }
  const Status& why() const { return why_; }

  // Whether a thread tries to connect again; set_trying() begins and ends that.
  bool is_trying() const { return is_trying_; }
  void set_trying(bool is_trying);
  // When the session's lease is over.
  Clock::time_point deadline() const { return lost_at_ + lease_; }
  // When to try next, at most deadline().
  Clock::time_point next_try(Clock::time_point now);
  // After a try that ended with `tried`: ok to try again, else why the session is lost for good. Begins anew where the
  // session was connected and is lost again.
  Status judge(const std::string& url, const Status& tried, Clock::time_point now);

 private:
  proto::Resume session_;
  std::chrono::seconds lease_{0};
  std::uint64_t losses_ = 0;         // of channels, before and after their welcome
  Status why_;                       // of the last one
  Clock::time_point lost_at_;        // the session's last connection
  Clock::time_point tried_lost_at_;  // lost_at_ when the last try began
  bool is_trying_ = false;
  std::optional<Backoff> backoff_;  // while trying
};

}  // namespace burn::net
