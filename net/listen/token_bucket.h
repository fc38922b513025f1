// A token bucket: how many bytes a connection may send before one of its calls is authenticated.
//
// gRPC receives a whole message before it delivers any of it, and its limit on a message's size is one for the whole
// server: a message as large as a session may send would be held for any peer that announces one. So bytes are counted
// where they arrive, on the socket.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "proto/message.h"

namespace burn::net {

class TokenBucket {
 public:
  using Clock = std::chrono::steady_clock;

  // A hello and as much again for the overhead of HTTP/2, and a rate per second that suffices for probers that send
  // only health checks, for days.
  static constexpr double kBurst = 2 * double{proto::kMaxHelloBytes}, kPerSecond = 16 << 10;
  // The burst of a connection with active sessions, whose bytes cannot be told from those of an unauthenticated call.
  static constexpr double kBurstWithSessions = 16 << 20;
  // If the limit is exceeded by this much, the connection is ended without waiting for the peer to read the refusal.
  static constexpr double kFarOverLimit = 1 << 20;

  enum class Verdict { within_limit, over_limit, far_over_limit };

  // Allows `bytes` from now on. `received`: bytes received so far.
  void begin(double bytes, std::uint64_t received, Clock::time_point now) {
    left_ = limit_ = bytes;
    seen_ = received;
    counted_ = now;
  }
  // `received`: bytes received so far, in all.
  Verdict count(std::uint64_t received, Clock::time_point now) {
    const double seconds = std::chrono::duration<double>(now - counted_).count();
    left_ = std::min(limit_, left_ + seconds * kPerSecond) - static_cast<double>(received - seen_);
    seen_ = received;
    counted_ = now;
    if (left_ >= 0) return Verdict::within_limit;
    return left_ >= -kFarOverLimit ? Verdict::over_limit : Verdict::far_over_limit;
  }

 private:
  double left_ = kBurst, limit_ = kBurst;
  std::uint64_t seen_ = 0;
  Clock::time_point counted_ = Clock::now();
};

}  // namespace burn::net
