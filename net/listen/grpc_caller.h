// The client of a call over gRPC, and what is counted for it while the call lasts.
#pragma once

#include <memory>
#include <string>

#include "net/listen/grpc_calls.h"
#include "net/listen/open_connections.h"
#include "net/listen/permits.h"
#include "net/listen/unauthenticated_calls.h"

namespace burn::net {

// Used by one thread at a time; peer() by all once it has arrived.
class GrpcCaller {
 public:
  explicit GrpcCaller(GrpcCalls& calls) : calls_(calls) {}

  // From where, as gRPC writes it. Errors: RESOURCE_EXHAUSTED for a call too many on one connection.
  Status arrive(const std::string& uri);
  const std::string& peer() const { return peer_; }  // "127.0.0.1:40312"

  // A connection's place, and one to watch our health from. Errors: RESOURCE_EXHAUSTED where all are taken.
  Status connect(std::weak_ptr<Abortable> connection);
  // Why the connection's place is one for a client that comes back; ok: it is any client's.
  const Status& full() const { return full_; }
  Status watch();

  // The call is unauthenticated until its token is accepted, or until it asks for our health. `until`: it is refused
  // then.
  void begin_unauthenticated(std::weak_ptr<UnauthenticatedCall> call, UnauthenticatedCalls::Clock::time_point until);
  bool is_unauthenticated() const { return registration_ != nullptr; }
  void end_unauthenticated(bool is_authenticated);
  // What is counted for it is given back.
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
