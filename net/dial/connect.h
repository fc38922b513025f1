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

// The parts of a device URL with a network scheme.
struct Endpoint {
  enum class Scheme { websocket, grpc, unix_socket, grpc_unix };
  Scheme scheme = Scheme::websocket;
  bool has_tls = false;          // for websocket and grpc
  std::string address;           // "127.0.0.1:3000", or the path of a unix socket
  std::uint32_t device = 0;      // number of the server's device
  std::string device_name = {};  // name of the device; empty: `device` is used
};

// Parses "ws://HOST:PORT", "grpc://HOST:PORT", with TLS "wss://HOST:PORT", "grpcs://HOST:PORT", and for unix sockets
// "unix:PATH" (WebSocket), "grpc+unix:PATH". An IPv6 address is written in brackets.
// The server's device K is "ws://HOST:PORT/K" or, as a path may end in anything, "unix/K:PATH"; by name
// "ws://HOST:PORT/cuda:1", "unix/cuda:1:/PATH". A name begins with a letter. Before a path it ends at the last ":/" or,
// if the path does not begin with "/", at the first ":". Errors: INVALID_ARGUMENT naming the URL and what is wrong with
// it.
Result<Endpoint> parse_url(const std::string& url);

// Connects within `timeout` and returns the open channel; blocks. `handler` may be called before this returns, and is
// called only if it succeeds, except for greeting(), which may be called more than once. Thread-safe; must not be
// called from a handler. `tls`: for schemes with TLS; files that are not named are taken from the environment
// (BURN_TLS_CA, BURN_TLS_CERT, BURN_TLS_KEY). `addresses`: the order in which the host's addresses are tried; null: as
// resolved, until one accepts the connection. Errors: INVALID_ARGUMENT as above, and for TLS files that cannot be used;
// UNAVAILABLE ("cannot connect to ws://127.0.0.1:3000: Connection refused").
Result<std::shared_ptr<proto::Channel>> connect_channel(const std::string& url,
                                                        std::shared_ptr<proto::ChannelHandler> handler,
                                                        std::chrono::milliseconds timeout,
                                                        const tls::ClientFiles& tls = {},
                                                        AddressChoice* addresses = nullptr);

// Returns the first of these URLs with the endpoint's scheme, as "HOST:PORT"; empty if there is none.
std::string find_address(const std::vector<std::string>& urls, const Endpoint& endpoint);

// Whether others may read what is sent to this server: as far as the URL shows it is on another machine, and there is
// no TLS.
bool is_unencrypted_remote(const Endpoint& endpoint);

// Whether connect_channel failed because no process of this machine listens at the URL. Then neither the network nor a
// proxy is to blame, and the state of a server that was there is lost.
bool is_gone_for_good(const std::string& url, const Status& failure);

}  // namespace burn::net
