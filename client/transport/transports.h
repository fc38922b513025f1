// The transports behind connect_channel, one file each. Errors say why without the URL.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/status.h"
#include "proto/channel.h"
#include "proto/transport/io_threads.h"
#include "proto/transport/socket.h"

namespace burn::client {

using Deadline = std::chrono::steady_clock::time_point;

// A connected, non-blocking socket.
Result<proto::UniqueFd> dial_tcp(const proto::HostPort& address, Deadline deadline);
Result<proto::UniqueFd> dial_unix(const std::string& path, Deadline deadline);

// `threads` run to the end of the process.
Result<std::shared_ptr<proto::Channel>> connect_grpc(const std::string& address,
                                                     std::shared_ptr<proto::ChannelHandler> handler, Deadline deadline,
                                                     proto::IoThreads& threads);

}  // namespace burn::client
