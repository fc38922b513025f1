// The client of a call over gRPC, and the permits and counts that are held for it while the call lasts.
#pragma once

#include <memory>
#include <string>

#include "net/listen/grpc_calls.h"
#include "net/listen/open_connections.h"
#include "net/listen/permits.h"
#include "net/listen/unauthenticated_calls.h"

namespace burn::net {

// Used by one thread at a time; peer() may be called by any thread after arrive().
class GrpcCaller {
 public:
  explicit GrpcCaller(GrpcCalls& calls) : calls_(calls) {}

  // Takes the peer's address, as gRPC writes it. Errors: RESOURCE_EXHAUSTED if its connection has opened too many
  // calls.
  Status arrive(const std::string& uri);
  const std::string& peer() const { return peer_; }  // "127.0.0.1:40312"

  // connect() takes a permit for a connection, watch() one for a health watch. Errors: RESOURCE_EXHAUSTED where none is
  // left.
  Status connect(std::weak_ptr<Abortable> connection);
  // Not ok, with the reason, if the permit is only for a client that returns to its session; ok: for any client.
  const Status& full() const { return full_; }
  Status watch();

  // The call counts as unauthenticated until end_unauthenticated(): when its token is accepted, or its health request
  // has arrived. `until`: when the call is refused.
  void begin_unauthenticated(std::weak_ptr<UnauthenticatedCall> call, UnauthenticatedCalls::Clock::time_point until);
  bool is_unauthenticated() const { return registration_ != nullptr; }
  void end_unauthenticated(bool is_authenticated);
  // Releases everything that is held for the client.
  void leave();

 private:
  GrpcCalls& calls_;
  std::string peer_;
  OpenConnections::Lease lease_;
  Status full_;
  UnauthenticatedCalls::Registration registration_;
  Permit watch_;
};

}  // namespace burn::net
