// How a transport creates the TLS of a connection.
#pragma once

#include <functional>
#include <memory>

namespace burn::net {

namespace tls {
class Stream;
}

// Creates the TLS of a connected socket, which must outlive it. Empty: the connection has no TLS.
using MakeTls = std::function<std::unique_ptr<tls::Stream>(int socket)>;

}  // namespace burn::net
