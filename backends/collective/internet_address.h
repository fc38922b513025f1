// Addresses of TCP in digits, and those of a name.
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

// "127.0.0.1", "::1" or "[::1]", with a port beside it. Errors: INVALID_ARGUMENT.
Result<InternetAddress> parse_host(const std::string& host, const std::string& port);
// "127.0.0.1:41001", "[::1]:41001".
Result<InternetAddress> parse_address(const std::string& text);
std::string to_string(const InternetAddress& address);  // so that parse_address() reads it

// The addresses in digits ("10.0.0.7", "fd00::7") that a host's name stands for, those that other machines may reach
// before loopback, otherwise in the order of the system's resolver; digits stand for themselves. May wait for a name
// server. Errors: INVALID_ARGUMENT with the name and what the resolver says.
Result<std::vector<std::string>> resolve_host(const std::string& name);

}  // namespace burn::backends
