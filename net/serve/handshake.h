// The server's half of a handshake: what a client's hello leads to. Each step may refuse it; the connection then ends
// with the Status that the step returns.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "net/serve/served_conversation.h"
#include "net/serve/session_host.h"
#include "proto/message.h"

namespace burn::net {

// Used by one thread, for the duration of one frame: keeps references to what it is given.
class Handshake {
 public:
  Handshake(SessionHost& host, const proto::Hello& hello, const Caller& caller)
      : host_(host), hello_(hello), caller_(caller) {}

  // The hello in the first frame of a connection. Errors: FAILED_PRECONDITION for another frame, or a client of another
  // version of the protocol.
  static Result<const proto::Hello*> read(const proto::Body& first);

  // A new session for the client, which is not among the host's leases yet. `full`: ok, or why there is no place for
  // one. Errors: UNAUTHENTICATED; `full`; NOT_FOUND for a device that the host does not have; RESOURCE_EXHAUSTED as
  // SessionHost::admit(); what the session's health() says.
  Result<std::shared_ptr<ServedConversation>> open(const Status& full) const;
  // The session that the client comes back to. Errors: UNAUTHENTICATED, PERMISSION_DENIED; NOT_FOUND when there is no
  // such session, the hello does not have its secret, or it is of another tenant. `resume`: the hello's.
  Result<std::shared_ptr<ServedConversation>> resume(const proto::Resume& resume) const;
  // What the client is told first. `conversation`: as opened or resumed.
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
