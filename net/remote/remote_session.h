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
  int timeout_seconds = 10;   // to connect and be welcomed, and for each try to come back
  std::string token;          // for a server that asks for one; empty: the setting BURN_TOKEN
  tls::ClientFiles tls = {};  // for wss:// and grpcs://; what is not named: the settings BURN_TLS_CA, _CERT, _KEY
  // connect() returns after so long at the latest. What is called before the welcome is kept until then, and fails with
  // what connect() would have said if none comes. Nothing: it waits for the welcome.
  std::optional<std::chrono::milliseconds> welcome_wait = std::nullopt;
  // How long the session is to outlive a lost connection: as long as the server lends, and this at most. 0: not at all.
  std::uint32_t lease_seconds = 86'400;
  // After so many seconds without the answer that has been waited for the longest, or something that it needs first
  // (docs/sessions.md), the session is given up, although the server is there; 0: never. Nothing: as
  // BURN_ANSWER_TIMEOUT says.
  std::optional<std::uint64_t> answer_timeout_seconds = std::nullopt;
  // Which of the server's devices instead of what the URL says, by name; empty: what the URL says.
  std::string device_name = {};
  // What info() says until the welcome has come, instead of waiting for it. For a caller that knows the server.
  std::optional<proto::SessionInfo> assumed_info = std::nullopt;
  // Kept until the session is gone.
  std::shared_ptr<const void> held = nullptr;
  // Gets a span for each run that it chooses; the server is told that span as the caller's. Null: none, and contexts of
  // runs are passed on as they are.
  std::shared_ptr<SpanSink> spans = nullptr;
  // No call waits: what is beyond the window is sent when there is room. For a caller that keeps within the window by
  // itself, and whose thread must not wait.
  bool never_waits = false;
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
  // The server's op set, as ir::op_set_fingerprint(); 0: no welcome has come yet, or it does not say.
  virtual std::uint64_t op_set() const = 0;

  // What follows is for a process that passes on what its own clients say.

  // define() of a program as it came off the wire (proto::DefineProgram::encoded).
  virtual Status define_encoded(proto::ProgramId id, SharedBytes program, std::vector<proto::ProgramId> forget) = 0;
  // write() of a tensor whose bytes come in parts, as proto::ServedSession::begin_upload(). What is given to the upload
  // is sent when the server has credit for it, and kept until then; nothing waits. Errors: FAILED_PRECONDITION of a
  // session that may outlive its connection, as parts are not kept to be sent again.
  virtual Result<std::unique_ptr<proto::ServedSession::Upload>> begin_upload(proto::TensorId id,
                                                                             const ir::TensorType& type,
                                                                             proto::WriteOptions options = {}) = 0;
  // Bytes of these that are not sent yet.
  virtual std::uint64_t upload_backlog() const = 0;

  // Called from threads of the session, without a lock; must not block. Any may be empty.
  struct Listener {
    std::function<void(std::uint64_t executed)> progress;  // so many calls of this session are executed
    std::function<void()> sent_parts;                      // upload_backlog() may have become less
    std::function<void(const Status& why)> ended;          // once: nothing more comes; at once if it is so already
  };
  // Once, and before the first call.
  virtual void listen(Listener listener) = 0;
  // close() without waiting for the end.
  virtual void begin_close() = 0;
};

// Connects to "ws://host:port", "grpc://host:port", "unix:path" or "grpc+unix:path" and says hello; to the server's
// device k with "ws://host:port/k" or "unix/k:path", where k may be a name. Errors: INVALID_ARGUMENT for a URL of
// another form; UNAVAILABLE when no server listens there ("cannot connect to ws://127.0.0.1:3000: Connection refused");
// FAILED_PRECONDITION when the versions do not fit, with both numbers; NOT_FOUND for a device that the server has not.
Result<std::unique_ptr<RemoteSession>> connect(const std::string& url, const ConnectOptions& options = {});

}  // namespace burn::net
