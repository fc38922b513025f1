// How a transport gets the TLS of a connection.
#pragma once

#include <functional>
#include <memory>

namespace burn::net {

namespace tls {
class Stream;
}

// Makes the TLS of a connected socket, which outlives it. Empty: the connection has none.
using MakeTls = std::function<std::unique_ptr<tls::Stream>(int socket)>;

}  // namespace burn::net
