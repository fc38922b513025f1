// Addresses of TCP in digits.
#pragma once

#include <string>

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

}  // namespace burn::backends
