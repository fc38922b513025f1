// Bytes that a peer has sent and acknowledged so far, as the system counts them.
#pragma once

#include <cstdint>
#include <optional>

namespace burn::net {

// Bytes received on this TCP connection since it was made, read or not; std::nullopt for other sockets.
std::optional<std::uint64_t> received_bytes(int socket);

// Bytes that are received and not read yet, on any socket; 0 if the system does not say.
std::uint64_t unread_bytes(int socket);

// How much of our data a TCP peer has acknowledged, and whether more is waiting to be sent.
struct TakenBytes {
  std::uint64_t taken = 0;
  bool awaits_more = false;
};
std::optional<TakenBytes> taken_bytes(int socket);

// Shuts down both directions of a connection and drops the unread bytes, which another holder of the socket would
// otherwise still read.
void end_unread(int socket);

}  // namespace burn::net
