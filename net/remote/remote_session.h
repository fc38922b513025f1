// A Session over a network channel: numbers the ordered frames, keeps to the peer's window, matches answers to
// requests.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/span.h"
#include "base/status.h"
#include "net/tls/options.h"
#include "proto/served_session.h"

namespace burn::net {

struct ConnectOptions {
  int timeout_seconds = 10;   // to connect until the welcome, and for each attempt to reconnect
  std::string token;          // for a server that requires one; empty: the setting BURN_TOKEN
  tls::ClientFiles tls = {};  // for wss:// and grpcs://; empty ones: the settings BURN_TLS_CA, _CERT, _KEY
  // connect() returns after this time at the latest. Calls made before the welcome are kept until then, and fail with
  // connect()'s error if none arrives. std::nullopt: connect() waits for the welcome.
  std::optional<std::chrono::milliseconds> welcome_wait = std::nullopt;
  // How long the session should outlive a lost connection; the server may allow less. 0: not at all.
  std::uint32_t lease_seconds = 86'400;
  // If the question that has been open for the longest, or work that it needs first (docs/sessions.md), makes no
  // progress for this long, the session is given up although the server is reachable; 0: never. std::nullopt: as
  // BURN_ANSWER_TIMEOUT says.
  std::optional<std::uint64_t> answer_timeout_seconds = std::nullopt;
  // The name of the server's device to use instead of the URL's; empty: the URL's.
  std::string device_name = {};
  // What info() returns before the welcome, instead of waiting for it. For a caller that knows the server.
  std::optional<proto::SessionInfo> assumed_info = std::nullopt;
  // Held until the session is destroyed.
  std::shared_ptr<const void> held = nullptr;
  // Chooses runs and receives a span for each; the server is told that span as the caller's. Null: no spans, and the
  // trace contexts of runs are passed on as they are.
  std::shared_ptr<SpanSink> spans = nullptr;
  // Calls never wait: frames beyond the window are sent when there is room. For a caller that keeps within the window
  // itself, and whose thread must not wait.
  bool never_waits = false;
};

// Totals of the wire traffic so far. Counts whole frames of burn.v1, without the transport's own framing.
struct WireStats {
  std::uint64_t frames_sent = 0, bytes_sent = 0;
  std::uint64_t frames_received = 0, bytes_received = 0;
  std::uint64_t programs_sent = 0, runs_sent = 0;  // each counted once, however often it was resent
  std::uint64_t resumes = 0;                       // times that the session continued over another connection
  std::uint64_t frames_resent = 0;                 // ordered frames resent because a connection was lost
};

// A session outlives its connection for as long as the server's lease allows (docs/sessions.md). Meanwhile calls are
// kept, and wait when there are many, and answers arrive later. Unconfirmed frames are sent again, and nothing is
// executed twice. If the session cannot continue, all open calls fail with UNAVAILABLE and the reason.
//
// Calls wait while info().max_in_flight of them are not executed; write() also waits while much data waits for credit,
// or has arrived and waits for its turn. Calls from a callback do not wait: frames beyond the window are sent when
// there is room, and close() returns at once.
class RemoteSession : public proto::Session {
 public:
  virtual WireStats wire_stats() const = 0;
  // The server's op set, as ir::op_set_fingerprint(); 0 before the welcome, or if the server does not say.
  virtual std::uint64_t op_set() const = 0;

  // The following functions are for a process that forwards its own clients' calls.

  // define() of a program in its encoded form (proto::DefineProgram::encoded).
  virtual Status define_encoded(proto::ProgramId id, SharedBytes program, std::vector<proto::ProgramId> forget) = 0;
  // write() of a tensor whose bytes arrive in parts, as in proto::ServedSession::begin_upload(). Bytes passed to the
  // upload are sent when the server has credit for them, and kept until then; nothing waits. Errors:
  // FAILED_PRECONDITION for a session that may outlive its connection, as parts are not kept to be sent again.
  virtual Result<std::unique_ptr<proto::ServedSession::Upload>> begin_upload(proto::TensorId id,
                                                                             const ir::TensorType& type,
                                                                             proto::WriteOptions options = {}) = 0;
  // Bytes passed to such uploads that are not sent yet.
  virtual std::uint64_t upload_backlog() const = 0;

  // Callbacks. Called on threads of the session, without a lock; must not block. Each may be empty.
  struct Listener {
    std::function<void(std::uint64_t executed)> progress;  // this many calls of the session are executed
    std::function<void()> sent_parts;                      // upload_backlog() may have decreased
    std::function<void(const Status& why)> ended;  // once, when the session ends, or at once if it has ended already
  };
  // Sets the callbacks. Requires: called once, before the first other call.
  virtual void listen(Listener listener) = 0;
  // close() without waiting for the end.
  virtual void begin_close() = 0;
};

// Connects to "ws://host:port", "grpc://host:port", "unix:path" or "grpc+unix:path" and sends the hello. The server's
// device k, a number or a name: "ws://host:port/k" or "unix/k:path". Errors: INVALID_ARGUMENT for a URL of another
// form; UNAVAILABLE when no server listens there ("cannot connect to ws://127.0.0.1:3000: Connection refused");
// FAILED_PRECONDITION when the protocol versions differ, with both numbers; NOT_FOUND for a device that the server does
// not have.
Result<std::unique_ptr<RemoteSession>> connect(const std::string& url, const ConnectOptions& options = {});

}  // namespace burn::net
