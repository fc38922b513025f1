// The transports behind connect_channel, one file each. Error messages say why, without the URL.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "net/tls/identity.h"
#include "net/transport/socket.h"
#include "proto/channel.h"

namespace burn::net {

using Deadline = std::chrono::steady_clock::time_point;

// The numeric addresses of a host name, the preferred one first: "127.0.0.1:3000", "[::1]:3000".
Result<std::vector<std::string>> resolve(const HostPort& address);

// A connected, non-blocking socket.
Result<UniqueFd> dial_tcp(const HostPort& address, Deadline deadline);
Result<UniqueFd> dial_unix(const std::string& path, Deadline deadline);

// A client's TLS identity, and the host that the server's certificate has to name.
struct GrpcTls {
  std::shared_ptr<const tls::ClientIdentity> identity;  // null: without TLS
  std::string host = {};
};

// `address` is numeric, or "unix:PATH".
Result<std::shared_ptr<proto::Channel>> connect_grpc(const std::string& address, const GrpcTls& tls,
                                                     std::shared_ptr<proto::ChannelHandler> handler, Deadline deadline);

}  // namespace burn::net
