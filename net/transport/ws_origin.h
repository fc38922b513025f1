// Which pages in a browser may speak to a worker.
//
// A browser lets any page open a WebSocket to anywhere, a loopback address included, and says with `Origin` whose page
// it is. Programs send none, and are let in. A worker serves no pages, so an origin is let in only if it is listed, or
// if it is the very address that was connected to, written as a number or "localhost": a name could have been made to
// point here by its owner.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace burn::net::ws {

// `origin`, `host`: the headers' texts; empty: there is none. `listed`: "https://example.org", "http://10.0.0.7:8080",
// "null" (pages of files), or "*" for any.
bool may_connect(std::string_view origin, std::string_view host, std::span<const std::string> listed);

}  // namespace burn::net::ws
