// The client's half of a handshake: sends its hello, holds frames until the channel exists, and checks the welcome.
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

// Selects one of a server's devices.
struct DeviceChoice {
  std::uint32_t number = 0;
  std::string name = {};  // empty: by number
};

// Used for each connection of a conversation in turn. Not thread-safe.
class ClientHandshake {
 public:
  using Clock = std::chrono::steady_clock;
  using Held = std::vector<std::pair<proto::EncodedFrame, proto::Lane>>;

  // `device`: the server's device to ask for.
  ClientHandshake(DeviceChoice device, const ConnectOptions& options)
      : token_(options.token), lease_seconds_(options.lease_seconds), device_(std::move(device)) {}

  // Begins a new connection, on which no hello is sent yet.
  void restart();
  // Returns the hello of a new or resumed session, and starts the clock of round_trip().
  proto::EncodedFrame hello(const std::optional<proto::Resume>& resume);
  // The same for a transport that sends the hello while it connects. Until the channel exists, hold() keeps frames.
  proto::EncodedFrame greet(const std::optional<proto::Resume>& resume);
  bool has_greeted() const { return greeting_bytes_ > 0; }
  void hold(proto::EncodedFrame frame, proto::Lane lane) { held_.emplace_back(std::move(frame), lane); }
  // Called when the channel exists. Returns the bytes sent by greet(), and the held frames. If 0 bytes, send hello()
  // now.
  std::pair<std::size_t, Held> attach();

  // Checks a welcome to a hello that asked to resume, or not. Errors: INVALID_ARGUMENT for what a server may not send.
  static Status check(const proto::Welcome& welcome, bool resumes);
  // Time since the hello. Called when the answer has just arrived.
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
