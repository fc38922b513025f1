// Decides how a conversation continues after its connection is lost: which session it resumes, until when and with
// which pauses it tries, and why it gives up.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>

#include "base/status.h"
#include "proto/message.h"

namespace burn::net {

// Pauses between attempts to reconnect: none at first, then growing up to two seconds. Each is shortened randomly by up
// to half, so that many clients of one server do not reconnect at once.
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

  // Called at the first welcome: sets the session to resume, and how long it may be without a connection. 0: not at
  // all.
  void begin(proto::Resume session, std::chrono::seconds lease);
  bool can_resume() const { return lease_.count() > 0; }
  std::chrono::seconds lease() const { return lease_; }
  const proto::Resume& session() const { return session_; }

  // A channel was lost, for `why`. `was_welcome`: the session was connected over it until `now`.
  void lose(Status why, bool was_welcome, Clock::time_point now);
  std::uint64_t losses() const { return losses_; }
  const Status& why() const { return why_; }

  // Whether a thread is trying to reconnect; set_trying() sets it.
  bool is_trying() const { return is_trying_; }
  void set_trying(bool is_trying);
  // When the session's lease expires.
  Clock::time_point deadline() const { return lost_at_ + lease_; }
  // Time of the next attempt, at most deadline().
  Clock::time_point next_try(Clock::time_point now);
  // Called after an attempt that ended with `tried`. Ok: try again; otherwise why the session is lost for good. If the
  // session was connected in between and is lost again, the pauses start anew.
  Status judge(const std::string& url, const Status& tried, Clock::time_point now);

 private:
  proto::Resume session_;
  std::chrono::seconds lease_{0};
  std::uint64_t losses_ = 0;         // lost channels, before and after their welcome
  Status why_;                       // why the last channel was lost
  Clock::time_point lost_at_;        // when the session was last connected
  Clock::time_point tried_lost_at_;  // lost_at_ when the last try began
  bool is_trying_ = false;
  std::optional<Backoff> backoff_;  // set while trying
};

}  // namespace burn::net
