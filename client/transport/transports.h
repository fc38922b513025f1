// The transports behind connect_channel, one file each. Errors say why without the URL.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "proto/channel.h"
#include "proto/transport/socket.h"

namespace burn::client {

using Deadline = std::chrono::steady_clock::time_point;

// The numeric addresses that a host's name stands for, the preferred one first: "127.0.0.1:3000", "[::1]:3000".
Result<std::vector<std::string>> resolve(const proto::HostPort& address);

// A connected, non-blocking socket.
Result<proto::UniqueFd> dial_tcp(const proto::HostPort& address, Deadline deadline);
Result<proto::UniqueFd> dial_unix(const std::string& path, Deadline deadline);

// `address` is numeric, or "unix:PATH".
Result<std::shared_ptr<proto::Channel>> connect_grpc(const std::string& address,
                                                     std::shared_ptr<proto::ChannelHandler> handler, Deadline deadline);

}  // namespace burn::client
