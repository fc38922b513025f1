// Calls of Connect over gRPC, each a proto::Channel.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "net/listen/accept_loop.h"
#include "net/listen/listener.h"
#include "net/listen/open_connections.h"
#include "net/listen/unauthenticated_calls.h"
#include "net/transport/grpc_loop.h"

namespace grpc {
class AsyncGenericService;
}

namespace burn::net {

// Serves calls. Outlives the loops that take them.
class GrpcCalls {
 public:
  struct Parts {
    grpc::AsyncGenericService& service;
    Acceptor& acceptor;
    std::shared_ptr<OpenConnections> connections;
    std::shared_ptr<PermitPool> watches;  // of health, which last
    std::function<AcceptLoop&()> accepting;
    std::chrono::milliseconds end_timeout{};    // for a client to take the end of a stream, or to ask for our health
    std::chrono::milliseconds stall_timeout{};  // for a client to take anything of much that waits for it
    bool has_tls = false;
  };

  explicit GrpcCalls(Parts parts) : parts_(std::move(parts)) { owed_.reserve(kMaxLoops); }

  const Parts& parts() const { return parts_; }

  // Takes the next call and all that follow until the server is shut down, and serves them on `loop`, whose queue is
  // the server's. The loop is to be stopped when nothing is called any more; channels may keep it beyond that.
  void take(const std::shared_ptr<GrpcLoop>& loop) noexcept;
  // Tries again where there was no memory to take the next call, and ends calls that do not say what they want.
  // Requires: the server is not shut down.
  void tick();
  // Ends the calls of this peer that are not authenticated yet.
  void refuse_unauthenticated(const std::string& peer);

  UnauthenticatedCalls& unauthenticated() { return unauthenticated_; }

 private:
  static constexpr std::size_t kMaxLoops = 64;

  const Parts parts_;
  UnauthenticatedCalls unauthenticated_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<GrpcLoop>> owed_;
};

}  // namespace burn::net
