// A Session over a network channel: numbers the ordered frames, keeps to the peer's window, matches answers to
// requests.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "proto/session.h"

namespace burn::net {

struct ConnectOptions {
  int timeout_seconds = 10;  // to connect and be welcomed, and for each try to come back
  std::string token;         // for a server that asks for one; empty: the setting BURN_TOKEN
  // connect() returns after so long at the latest. What is called before the welcome is kept until then, and fails with
  // what connect() would have said if none comes. Nothing: it waits for the welcome.
  std::optional<std::chrono::milliseconds> welcome_wait = std::nullopt;
  // How long the session is to outlive a lost connection: as long as the server lends, and this at most. 0: not at all.
  std::uint32_t lease_seconds = 86'400;
  // After so many seconds without the answer that has been waited for the longest, or something that it needs first
  // (docs/sessions.md), the session is given up, although the server is there; 0: never. Nothing: as
  // BURN_ANSWER_TIMEOUT says.
  std::optional<std::uint64_t> answer_timeout_seconds = std::nullopt;
};

// What went over the wire so far. Counts whole frames of burn.v1, without the transport's own framing.
struct WireStats {
  std::uint64_t frames_sent = 0, bytes_sent = 0;
  std::uint64_t frames_received = 0, bytes_received = 0;
  std::uint64_t programs_sent = 0, runs_sent = 0;  // each once, however often it was sent again
  std::uint64_t resumes = 0;                       // connections that the session has outlived
  std::uint64_t frames_resent = 0;                 // ordered ones, that a lost connection had swallowed
};

// A session outlives its connection for as long as the server lends (docs/sessions.md): meanwhile calls are kept, and
// wait when there are many, and answers come later; what was sent and not confirmed is sent again, and nothing is done
// twice. If it cannot go on everything that is open fails with UNAVAILABLE and the reason.
//
// Calls wait while info().max_in_flight of them are not executed; write() also while much data waits for credit, or is
// there and waits for its turn. From a callback nothing waits: what is beyond the window is sent when there is room,
// and close() returns at once.
class RemoteSession : public proto::Session {
 public:
  virtual WireStats wire_stats() const = 0;
};

// Connects to "ws://host:port", "grpc://host:port", "unix:path" or "grpc+unix:path" and says hello; to the server's
// device k with "ws://host:port/k" or "unix/k:path". Errors: INVALID_ARGUMENT for a URL of another form; UNAVAILABLE
// when no server listens there ("cannot connect to ws://127.0.0.1:3000: Connection refused"); FAILED_PRECONDITION when
// the versions do not fit, with both numbers; NOT_FOUND for a device that the server has not.
Result<std::unique_ptr<RemoteSession>> connect(const std::string& url, const ConnectOptions& options = {});

}  // namespace burn::net
