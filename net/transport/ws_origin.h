// Decides which web pages may connect to a worker from a browser.
//
// A browser lets any page open a WebSocket to any address, loopback included, and names the page's origin in the
// `Origin` header. Programs send no such header, and are allowed. A worker serves no pages, so an origin is allowed
// only if it is listed, or if it equals the address that was connected to, written as a number or "localhost": the
// owner of another name could have made it point here.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace burn::net::ws {

// `origin`, `host`: the headers' texts; empty: none. `listed`: "https://example.org", "http://10.0.0.7:8080", "null"
// (pages of files), or "*" for any.
bool may_connect(std::string_view origin, std::string_view host, std::span<const std::string> listed);

}  // namespace burn::net::ws
