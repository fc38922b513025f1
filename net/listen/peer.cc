#include "net/listen/peer.h"

#include <array>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace burn::net {
namespace {

Peer of_v4(const in_addr& address) {
  std::array<char, INET_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET, &address, text.data(), text.size());
  const bool is_loopback = ntohl(address.s_addr) >> 24 == 127;
  return {text.data(), is_loopback ? Peer::Where::loopback : Peer::Where::elsewhere};
}

Peer of_v6(in6_addr address) {
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    in_addr v4{};
    std::memcpy(&v4, address.s6_addr + 12, sizeof v4);
    return of_v4(v4);
  }
  const bool is_loopback = IN6_IS_ADDR_LOOPBACK(&address);
  if (!is_loopback) std::memset(address.s6_addr + 8, 0, 8);
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET6, &address, text.data(), text.size());
  return {text.data(), is_loopback ? Peer::Where::loopback : Peer::Where::elsewhere};
}

}  // namespace

Peer Peer::of(std::string_view name) {
  if (name.starts_with("unix")) return {"unix", Where::unix_socket};
  std::string host{name.substr(0, name.rfind(':'))};
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  host = host.substr(0, host.find('%'));  // the interface of a link-local address
  in_addr v4{};
  if (::inet_pton(AF_INET, host.c_str(), &v4) == 1) return of_v4(v4);
  in6_addr v6{};
  if (::inet_pton(AF_INET6, host.c_str(), &v6) == 1) return of_v6(v6);
  return {"unknown", Where::elsewhere};
}

}  // namespace burn::net
