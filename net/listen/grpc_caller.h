// Who makes a call over gRPC, and what is counted for him while it lasts.
#pragma once

#include <memory>
#include <string>

#include "net/listen/grpc_calls.h"
#include "net/listen/open_connections.h"
#include "net/listen/permits.h"
#include "net/listen/strangers.h"

namespace burn::net {

// Used by one thread at a time; peer() by all once he has arrived.
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

  // He is a stranger until we know who he is, or that he asks for our health. `until`: he is turned away then.
  void meet(std::weak_ptr<Stranger> call, Strangers::Clock::time_point until);
  bool is_stranger() const { return stranger_ != nullptr; }
  void know(bool is_welcome);
  // What is counted for him is given back.
  void leave();

 private:
  GrpcCalls& calls_;
  std::string peer_;
  OpenConnections::Lease lease_;
  Status full_;
  Strangers::Stay stranger_;
  Permit watch_;
};

}  // namespace burn::net
