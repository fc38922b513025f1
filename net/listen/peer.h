// The peer that a connection is counted for: one machine, as far as its address shows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace burn::net {

struct Peer {
  enum class Where : std::uint8_t { elsewhere, loopback, unix_socket };

  // An IPv4 address; the first 64 bits of an IPv6 address, as one customer has all addresses with them; "unix".
  std::string key;
  Where where = Where::elsewhere;

  // `name`: as Channel::peer() returns it: "127.0.0.1:40312", "[::1]:40312", "unix:pid 7".
  static Peer of(std::string_view name);
};

}  // namespace burn::net
