// What a peer has sent so far, as the system counts it.
#pragma once

#include <cstdint>
#include <optional>

namespace burn::net {

// Bytes that have come on this TCP connection since it was made, read or not; nothing for sockets that are not TCP's.
std::optional<std::uint64_t> received_bytes(int socket);

// Bytes that have come and are not read yet, on any socket; 0 where the system does not say.
std::uint64_t unread_bytes(int socket);

}  // namespace burn::net
