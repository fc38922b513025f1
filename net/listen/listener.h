// Listeners: sockets that wait for clients and hand each over as a proto::Channel. One file per transport; all carry
// the same frames.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "net/listen/permits.h"
#include "proto/channel.h"

namespace burn::net::tls {
class ServerTls;
}

namespace burn::net {

// Chooses the handler that serves a new client. Called from transport threads, possibly several at once; must not
// block.
class Acceptor {
 public:
  virtual ~Acceptor() = default;
  // Returns the handler of this channel; the transport holds it until on_closed has returned. Null: the client is
  // refused and the channel closed at once.
  virtual std::shared_ptr<proto::ChannelHandler> accept(std::shared_ptr<proto::Channel> channel) = 0;
  // The same when there is no room for another client, for the reason `full`. The handler admits a client that returns
  // to an existing session, and tells others why they are refused.
  virtual std::shared_ptr<proto::ChannelHandler> accept_returning(std::shared_ptr<proto::Channel> channel,
                                                                  const Status& full) = 0;
};

struct ListenOptions {
  // A few more (returning_permits) are accepted, for clients that return to a session and to tell others why they are
  // refused.
  std::size_t max_connections = 1024;
  std::shared_ptr<PermitPool> permits;  // for connections of several listeners; null: max_connections for this one
  bool loopback_only = false;           // refuse addresses that other machines can reach
  std::vector<std::string> origins;     // pages that may connect to a WebSocket (ws_origin.h); "*": any
  std::size_t max_frame_bytes = proto::kMaxFrameBytes;
  int handshake_timeout_seconds = 10;  // to complete the transport's own handshake (HTTP upgrade, HTTP/2 preface)
  int idle_timeout_seconds = 30;       // a silent peer is pinged, then dropped, so that half-open sockets do not stay
  bool shared_memory = true;           // offered to clients on a unix socket that ask for it
  std::shared_ptr<tls::ServerTls> tls = nullptr;  // for TCP listeners; null: without TLS
};

// Returns options.permits, or a new pool for this listener alone.
std::shared_ptr<PermitPool> permits_of(const ListenOptions& options);

// A listening socket. The destructor closes it and every channel it made, and waits for their threads.
class Listener {
 public:
  Listener() = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  virtual ~Listener() = default;
  virtual std::string url()
      const = 0;                      // "ws://127.0.0.1:3000" ("wss://" with TLS), with the port that was really bound
  virtual void stop_accepting() = 0;  // open channels stay open
  // From now on health checks report that no client is accepted, although clients are still accepted.
  virtual void begin_drain() {}
};

// `address` is "HOST:PORT" (port 0: any free one; [::1]:3000 for IPv6). Errors: INVALID_ARGUMENT for an address that
// does not parse, UNAVAILABLE when it cannot be bound ("cannot listen on 127.0.0.1:3000: Address already in use"),
// FAILED_PRECONDITION when options.loopback_only forbids it. `acceptor` must outlive the listener.
Result<std::unique_ptr<Listener>> listen_websocket(const std::string& address, Acceptor& acceptor,
                                                   const ListenOptions& options = {});
Result<std::unique_ptr<Listener>> listen_grpc(const std::string& address, Acceptor& acceptor,
                                              const ListenOptions& options = {});
// WebSocket over a unix socket at `path`. A stale socket file is replaced, one in use is an error; the destructor
// removes the file.
Result<std::unique_ptr<Listener>> listen_unix(const std::string& path, Acceptor& acceptor,
                                              const ListenOptions& options = {});

Result<std::unique_ptr<Listener>> listen_grpc_unix(const std::string& path, Acceptor& acceptor,
                                                   const ListenOptions& options = {});

}  // namespace burn::net
