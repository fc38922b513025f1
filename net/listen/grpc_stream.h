// Calls of Connect over gRPC, each a proto::Channel.
#pragma once

#include <memory>

#include "net/listen/listener.h"
#include "net/listen/open_connections.h"
#include "net/transport/grpc_loop.h"

namespace grpc {
class AsyncGenericService;
}

namespace burn::net {

// Who serves calls. Outlives the loops that take them.
struct GrpcCalls {
  grpc::AsyncGenericService& service;
  Acceptor& acceptor;
  const std::shared_ptr<OpenConnections> connections;
};

// Takes the next call and all that follow until the server is shut down, and serves them on `loop`, whose queue is the
// server's. The loop is to be stopped when nothing is called any more; channels may keep it beyond that.
void take_calls(GrpcCalls& calls, std::shared_ptr<GrpcLoop> loop);

}  // namespace burn::net
