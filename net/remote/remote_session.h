// A Session over a network channel: numbers the ordered frames, keeps to the peer's window, matches answers to
// requests.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "proto/session.h"

namespace burn::net {

struct ConnectOptions {
  int timeout_seconds = 10;  // to connect and be welcomed
  std::string token;         // for a server that asks for one; empty: the setting BURN_TOKEN
};

// What went over the wire so far. Counts whole frames of burn.v1, without the transport's own framing.
struct WireStats {
  std::uint64_t frames_sent = 0, bytes_sent = 0;
  std::uint64_t frames_received = 0, bytes_received = 0;
  std::uint64_t programs_sent = 0, runs_sent = 0;
};

// Calls wait while info().max_in_flight of them are not executed; write() also while much data waits for credit, or is
// there and waits for its turn. From a callback nothing waits: what is beyond the window is sent when there is room,
// and close() returns at once.
class RemoteSession : public proto::Session {
 public:
  virtual WireStats wire_stats() const = 0;
  // Whether the server is on this host and bytes go to it through memory (proto::Channel::is_shared_memory).
  virtual bool is_shared_memory() const = 0;
};

// Connects to "ws://host:port", "grpc://host:port", "unix:path" or "grpc+unix:path" and says hello; to the server's
// device k with "ws://host:port/k" or "unix/k:path". Errors: INVALID_ARGUMENT for a URL of another form; UNAVAILABLE
// when nobody listens there ("cannot connect to ws://127.0.0.1:3000: Connection refused"); FAILED_PRECONDITION when the
// versions do not fit, with both numbers; NOT_FOUND for a device that the server has not.
Result<std::unique_ptr<RemoteSession>> connect(const std::string& url, const ConnectOptions& options = {});

}  // namespace burn::net
