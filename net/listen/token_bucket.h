// A token bucket: how many bytes a connection may send before one of its calls is authenticated.
//
// gRPC takes a message in before it shows any of it, and its limit of a message's size is one for the server: a message
// as large as a session may send would be held for any peer that announces one. So what comes is counted where it comes
// in.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "proto/message.h"

namespace burn::net {

class TokenBucket {
 public:
  using Clock = std::chrono::steady_clock;

  // A hello and as much again for what HTTP/2 needs, and so many more each second for probers that only ask for our
  // health, for days.
  static constexpr double kBurst = 2 * double{proto::kMaxHelloBytes}, kPerSecond = 16 << 10;
  // Where a session is at work on the connection, its bytes cannot be told from those of an unauthenticated call.
  static constexpr double kBesideSessions = 16 << 20;
  // Beyond it by so much, the connection is ended without waiting for the refusal to be read.
  static constexpr double kAbsurd = 1 << 20;

  enum class Verdict { fine, too_much, absurd };

  // From now on `bytes` more than were `received` so far.
  void begin(double bytes, std::uint64_t received, Clock::time_point now) {
    left_ = limit_ = bytes;
    seen_ = received;
    counted_ = now;
  }
  // `received`: so far, in all.
  Verdict count(std::uint64_t received, Clock::time_point now) {
    const double seconds = std::chrono::duration<double>(now - counted_).count();
    left_ = std::min(limit_, left_ + seconds * kPerSecond) - static_cast<double>(received - seen_);
    seen_ = received;
    counted_ = now;
    if (left_ >= 0) return Verdict::fine;
    return left_ >= -kAbsurd ? Verdict::too_much : Verdict::absurd;
  }

 private:
  double left_ = kBurst, limit_ = kBurst;
  std::uint64_t seen_ = 0;
  Clock::time_point counted_ = Clock::now();
};

}  // namespace burn::net
