// What a peer has sent and taken so far, as the system counts it.
#pragma once

#include <cstdint>
#include <optional>

namespace burn::net {

// Bytes that have come on this TCP connection since it was made, read or not; nothing for sockets that are not TCP's.
std::optional<std::uint64_t> received_bytes(int socket);

// Bytes that have come and are not read yet, on any socket; 0 where the system does not say.
std::uint64_t unread_bytes(int socket);

// What a TCP peer has acknowledged of ours, and whether there is more for it.
struct TakenBytes {
  std::uint64_t taken = 0;
  bool awaits_more = false;
};
std::optional<TakenBytes> taken_bytes(int socket);

// Ends a connection in both directions, and leaves unread what lies there: another holder of the socket would go on
// with it.
void end_unread(int socket);

}  // namespace burn::net
