// Channels over WebSocket (RFC 6455): a frame is one binary message. For both ends, over TCP and unix sockets, and
// through shared memory between the ends of a unix socket.
//
// A channel's socket belongs to one event loop, on whose thread its handler is called; send() and close() only queue
// frames and wake that thread. Silent peers are pinged after half the idle timeout and dropped after all of it. If a
// peer does not read its answers, reading from it stops (stall_watch.h); it is dropped after the idle timeout, or, if
// it does not read the end, after the handshake timeout.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "net/transport/abortable.h"
#include "net/transport/io_threads.h"
#include "net/transport/secure.h"
#include "net/transport/socket.h"
#include "proto/channel.h"

namespace burn::net {

struct WebSocketOptions {
  std::size_t max_frame_bytes = proto::kMaxFrameBytes;  // a larger message from the peer ends the connection
  std::chrono::milliseconds handshake_timeout{10'000};
  std::chrono::milliseconds idle_timeout{30'000};
  bool shared_memory = true;              // on a unix socket, if the peer wants it, too (ws_upgrade.h)
  std::vector<std::string> origins = {};  // for a server: pages that may connect (ws_origin.h)
  MakeTls make_tls = {};                  // empty: without TLS
};

// Server: performs the handshake on an accepted socket, then asks `accept` for its handler (null: the client is refused
// and the connection closed). `lease` is released when the connection has ended.
std::weak_ptr<Abortable> serve_websocket(
    std::shared_ptr<IoContext> loop, UniqueFd socket, const WebSocketOptions& options,
    std::function<std::shared_ptr<proto::ChannelHandler>(std::shared_ptr<proto::Channel>)> accept,
    std::shared_ptr<const void> lease);

// Client: performs the handshake with `host` ("127.0.0.1:3000") and returns the open channel. Blocks; not for threads
// of IoThreads. Errors: UNAVAILABLE with the reason.
Result<std::shared_ptr<proto::Channel>> open_websocket(std::shared_ptr<IoContext> loop, UniqueFd socket,
                                                       const std::string& host, const WebSocketOptions& options,
                                                       std::shared_ptr<proto::ChannelHandler> handler);

}  // namespace burn::net
