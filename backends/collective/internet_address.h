// Numeric TCP addresses, and name resolution.
#pragma once

#include <string>
#include <vector>

#include <sys/socket.h>

#include "base/status.h"

namespace burn::backends {

struct InternetAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  int family() const { return storage.ss_family; }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  bool is_loopback() const;
  bool is_any() const;  // "0.0.0.0", "::"
};

// `host`: "127.0.0.1", "::1" or "[::1]"; `port`: decimal. Errors: INVALID_ARGUMENT.
Result<InternetAddress> parse_host(const std::string& host, const std::string& port);
// "127.0.0.1:41001", "[::1]:41001".
Result<InternetAddress> parse_address(const std::string& text);
std::string to_string(const InternetAddress& address);  // in the form that parse_address() accepts

// The numeric addresses ("10.0.0.7", "fd00::7") of a host name: addresses that other machines can reach before
// loopback, otherwise in the order of the system's resolver. A numeric address resolves to itself. May wait for a name
// server. Errors: INVALID_ARGUMENT with the name and the resolver's message.
Result<std::vector<std::string>> resolve_host(const std::string& name);

}  // namespace burn::backends
