// The client's half of a handshake: its hello, what may leave with it, and what a welcome must be.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "net/remote/remote_session.h"
#include "proto/channel.h"
#include "proto/message.h"

namespace burn::net {

// Which of a server's devices.
struct DeviceChoice {
  std::uint32_t number = 0;
  std::string name = {};  // empty: by number
};

// For each connection of a conversation in turn. Not thread-safe.
class ClientHandshake {
 public:
  using Clock = std::chrono::steady_clock;
  using Held = std::vector<std::pair<proto::EncodedFrame, proto::Lane>>;

  // `device`: which of the server's devices is asked for.
  ClientHandshake(DeviceChoice device, const ConnectOptions& options)
      : token_(options.token), lease_seconds_(options.lease_seconds), device_(std::move(device)) {}

  // A connection begins: the hello was not said on it.
  void restart();
  // The hello of a new session or of one that is resumed. Counts as said now.
  proto::EncodedFrame hello(const std::optional<proto::Resume>& resume);
  // The same where a transport says it while it connects. Until the channel is there, frames are kept by hold().
  proto::EncodedFrame greet(const std::optional<proto::Resume>& resume);
  bool has_greeted() const { return greeting_bytes_ > 0; }
  void hold(proto::EncodedFrame frame, proto::Lane lane) { held_.emplace_back(std::move(frame), lane); }
  // The channel is there: what greet() said, in bytes, and what was kept since. 0 bytes: hello() is to be sent.
  std::pair<std::size_t, Held> attach();

  // What a server may not say in a welcome to a hello that asked to resume, or not. Errors: INVALID_ARGUMENT.
  static Status check(const proto::Welcome& welcome, bool resumes);
  // For the answer to the hello, if it has come now.
  std::chrono::nanoseconds round_trip() const { return Clock::now() - hello_at_; }

 private:
  const std::string token_;
  const std::uint32_t lease_seconds_;
  const DeviceChoice device_;
  Clock::time_point hello_at_;
  std::size_t greeting_bytes_ = 0;
  Held held_;
};

}  // namespace burn::net
