// The address of the browser's dashboard, and the checks of its requests. Independent of sockets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace burn::train::dashboard {

struct Address {
  std::string host;  // an IPv4 or IPv6 address: "127.0.0.1", "::1", "0.0.0.0"
  std::uint16_t port = 6006;
  bool is_loopback = true;
};

// Parses "127.0.0.1:6006", "[::1]:6006", "localhost:6006"; ":6006" and "6006" mean loopback, "0.0.0.0" gets port 6006.
// Port 0: the system chooses one. Errors: INVALID_ARGUMENT with the text and what is expected.
Result<Address> parse_address(std::string_view text);
std::string to_string(const Address& address);

// The parts of a request that are checked before it is answered.
struct RequestHead {
  std::string_view method, target;  // target: "/api/runs?x=1"
  std::string_view host, origin;    // headers; empty: none
  std::string_view cookie, authorization;
};

struct Gate {
  Address address;
  std::string token;  // empty: none is required

  // Returns 0 if the request may be answered, else the HTTP status of the refusal. A foreign web page can make a
  // browser send requests here (CSRF), also under a domain that it lets resolve to this machine (DNS rebinding): such
  // requests have a foreign Origin or Host.
  int check(const RequestHead& head) const;
  // Whether the target has the right "token"; the browser then gets it as a cookie.
  bool has_token_in_target(std::string_view target) const;
};

// A parameter of a target's query, percent-decoded: parameter("/a?x=1&y=b%20c", "y") is "b c".
std::string parameter(std::string_view target, std::string_view name);
bool is_equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace burn::train::dashboard
