// The server's half of a handshake: how a client's hello is answered. Each step may refuse it; the connection then ends
// with the Status that the step returns.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "net/serve/served_conversation.h"
#include "net/serve/session_host.h"
#include "proto/message.h"

namespace burn::net {

// Used by one thread, while one frame is handled: keeps references to the constructor's arguments.
class Handshake {
 public:
  Handshake(SessionHost& host, const proto::Hello& hello, const Caller& caller)
      : host_(host), hello_(hello), caller_(caller) {}

  // Returns the hello in the first frame of a connection. Errors: FAILED_PRECONDITION for another frame, or a client of
  // another version of the protocol.
  static Result<const proto::Hello*> read(const proto::Body& first);

  // Opens a new session for the client; the caller adds it to the host's leases. `full`: ok, or why there is no place
  // for one. Errors: UNAUTHENTICATED; `full`; NOT_FOUND for a device that the host does not have; RESOURCE_EXHAUSTED as
  // SessionHost::admit(); the session's health().
  Result<std::shared_ptr<ServedConversation>> open(const Status& full) const;
  // Finds the session that the client resumes. Errors: UNAUTHENTICATED, PERMISSION_DENIED; NOT_FOUND when there is no
  // such session, the hello has another secret, or the session is another tenant's. `resume`: the hello's.
  Result<std::shared_ptr<ServedConversation>> resume(const proto::Resume& resume) const;
  // The server's first message. `conversation`: as opened or resumed.
  proto::Welcome welcome(const ServedConversation& conversation) const;

 private:
  Status check_room(const Status& full) const;
  Result<std::unique_ptr<proto::ServedSession>> open_session(const Identity& identity) const;
  void log_opened(const std::string& session, const std::string& device, const Identity& identity) const;

  SessionHost& host_;
  const proto::Hello& hello_;
  const Caller& caller_;
};

}  // namespace burn::net
