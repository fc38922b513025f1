// From a URL to an open channel: the client's end of the transports.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "net/dial/address_choice.h"
#include "net/tls/options.h"
#include "proto/channel.h"

namespace burn::net {

// Where a device URL of a network scheme points.
struct Endpoint {
  enum class Scheme { websocket, grpc, unix_socket, grpc_unix };
  Scheme scheme = Scheme::websocket;
  bool has_tls = false;          // of websocket and grpc
  std::string address;           // "127.0.0.1:3000", or the path of a unix socket
  std::uint32_t device = 0;      // of those that the server has
  std::string device_name = {};  // the same by name; empty: by number
};

// "ws://HOST:PORT", "grpc://HOST:PORT", the same with TLS "wss://HOST:PORT", "grpcs://HOST:PORT", "unix:PATH"
// (WebSocket), "grpc+unix:PATH"; an IPv6 address stands in brackets.
// The server's device K: "ws://HOST:PORT/K", and, as a path may end in anything, "unix/K:PATH"; by name
// "ws://HOST:PORT/cuda:1", "unix/cuda:1:/PATH". A name begins with a letter. Before a path it ends at the last ":/",
// or, if the path does not begin with "/", at the first ":". Errors: INVALID_ARGUMENT naming the URL and what is wrong
// with it.
Result<Endpoint> parse_url(const std::string& url);

// Connects within `timeout` and returns the open channel; blocks. `handler` may be called before this returns, and is
// called only if it succeeds, but for its greeting(), which may be asked for more than once. Thread-safe; not to be
// called from a handler. `tls`: for schemes that have it; a file that is not named is the environment's (BURN_TLS_CA,
// BURN_TLS_CERT, BURN_TLS_KEY). `addresses`: which of those that the URL's name stands for is dialled; null: the first
// that takes the connection. Errors: INVALID_ARGUMENT as above, and for files of TLS that cannot be used;
// UNAVAILABLE
// ("cannot connect to ws://127.0.0.1:3000: Connection refused").
Result<std::shared_ptr<proto::Channel>> connect_channel(const std::string& url,
                                                        std::shared_ptr<proto::ChannelHandler> handler,
                                                        std::chrono::milliseconds timeout,
                                                        const tls::ClientFiles& tls = {},
                                                        AddressChoice* addresses = nullptr);

// The one of these URLs that has the endpoint's scheme, as "HOST:PORT"; empty: there is none.
std::string find_address(const std::vector<std::string>& urls, const Endpoint& endpoint);

// Whether others may read what is said to this server: it is on another machine, as far as the URL tells, and there is
// no TLS.
bool is_plain_and_far(const Endpoint& endpoint);

// Whether connect_channel failed because there is no process of this host that listens at the URL: neither the network
// nor a proxy in between is to blame, and what a server there had in memory is gone.
bool is_gone_for_good(const std::string& url, const Status& failure);

}  // namespace burn::net
