// How an HTTP connection becomes a WebSocket (RFC 6455, section 4). Text in, text out; no sockets.
//
// On a unix socket either side may have shared memory in mind: the client asks for it with a header, and the server
// grants it with the same one. What they do then is in ws_upgrade.h.
//
// A client that knows its first message beforehand puts it into the request (Burn-Hello, in base64), and a server that
// understands this says so in its response and takes the message as the first of the WebSocket: a round trip less. To
// any other the header means nothing, and the message follows as usual.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace burn::net::ws {

// Where the header of a request or response ends: the length of it, or 0 when its end has not come.
std::size_t http_header_size(std::string_view bytes);

// What a message within a request may have: with it the header stays far below what servers take (8 KiB).
inline constexpr std::size_t kMaxEarlyBytes = 3072;

struct Answer {
  std::string text;        // to send
  Status status;           // not ok: then close
  std::string hello = {};  // the client's first message, if it came with the request
};
// What a server says without reading the request: that it has no place now. `why`: one line of text.
std::string refuse_for_now(const std::string& why);
// Whether these are the first bytes of TLS, which would otherwise be waited with for the end of a header; and what a
// server says then that has none.
bool begins_tls(std::string_view bytes);
std::string answer_tls();
// The server's side. `request` is a whole header. `share_memory` is called if the client asks for shared memory:
// whether it gets some. `origins`: of pages that may connect, beside those of ws_origin.h.
Answer answer_upgrade(std::string_view request, const std::function<bool()>& share_memory = {},
                      std::span<const std::string> origins = {});

// The client's side: 16 random bytes in base64; the request; whether the response accepts it.
std::string make_key();
// `hello`: the first message, at most kMaxEarlyBytes; empty: it comes later.
std::string upgrade_request(const std::string& host, const std::string& key, bool asks_for_shared_memory = false,
                            std::string_view hello = {});
struct Upgraded {
  bool shares_memory = false;
  bool took_hello = false;
};
Result<Upgraded> check_upgrade(std::string_view response, const std::string& key);

}  // namespace burn::net::ws
