// Where the browser's dashboard listens, and which requests it answers. Knows no socket.
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

// "127.0.0.1:6006", "[::1]:6006", "localhost:6006"; ":6006" and "6006" are loopback, "0.0.0.0" has port 6006. Port 0:
// the system chooses. Errors: INVALID_ARGUMENT with the text and what is expected.
Result<Address> parse_address(std::string_view text);
std::string to_string(const Address& address);

// What is looked at before a request is answered.
struct RequestHead {
  std::string_view method, target;  // target: "/api/runs?x=1"
  std::string_view host, origin;    // headers; empty: none
  std::string_view cookie, authorization;
};

struct Gate {
  Address address;
  std::string token;  // empty: none is asked for

  // 0: the request may be answered; else the HTTP status of the refusal. A web page elsewhere can make a browser send
  // requests here, also under a name of its own that it lets resolve to this machine: such ones have a foreign Origin
  // or Host.
  int check(const RequestHead& head) const;
  // The target's "token" is right: the browser gets it as a cookie.
  bool has_token_in_target(std::string_view target) const;
};

// A parameter of a target's query, percent signs decoded: parameter("/a?x=1&y=b%20c", "y") is "b c".
std::string parameter(std::string_view target, std::string_view name);
bool is_equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace burn::train::dashboard
