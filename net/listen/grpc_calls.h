// Serves calls of Connect over gRPC, each of which is a proto::Channel, and health checks.
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

// Must outlive the loops that take calls.
class GrpcCalls {
 public:
  struct Parts {
    grpc::AsyncGenericService& service;
    Acceptor& acceptor;
    std::shared_ptr<OpenConnections> connections;
    std::shared_ptr<PermitPool> watches;  // for health watches, which stay open
    std::function<AcceptLoop&()> accepting;
    std::chrono::milliseconds end_timeout{};    // for a client to read the end of a stream, or to send a health request
    std::chrono::milliseconds stall_timeout{};  // for a client to read something while many bytes wait for it
    bool has_tls = false;
  };

  explicit GrpcCalls(Parts parts) : parts_(std::move(parts)) { loops_to_retry_.reserve(kMaxLoops); }

  const Parts& parts() const { return parts_; }

  // Waits for the next call, and for all that follow, until the server is shut down; serves them on `loop`, whose queue
  // is the server's. Stop the loop when nothing calls it any more; channels may keep it alive beyond that.
  void take(const std::shared_ptr<GrpcLoop>& loop) noexcept;
  // Retries loops for which there was no memory to wait for a call, and ends calls whose request is overdue. Requires:
  // the server is not shut down.
  void tick();
  // Ends the calls of this peer that are not authenticated yet.
  void refuse_unauthenticated(const std::string& peer);

  UnauthenticatedCalls& unauthenticated() { return unauthenticated_; }

 private:
  static constexpr std::size_t kMaxLoops = 64;

  const Parts parts_;
  UnauthenticatedCalls unauthenticated_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<GrpcLoop>> loops_to_retry_;
};

}  // namespace burn::net
