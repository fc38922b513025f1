// The HTTP upgrade to WebSocket (RFC 6455, section 4). Pure functions on text; no sockets.
//
// On a unix socket the client may request shared memory with a header, which the server grants with the same header.
// What they do then is in ws_upgrade.h.
//
// A client that knows its first message beforehand puts it into the request (Burn-Hello, in base64). A server that
// supports this says so in its response and handles the message as the first of the WebSocket, which saves a round
// trip. Other servers ignore the header, and the message follows as usual.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace burn::net::ws {

// The length of the header of a request or response, or 0 when its end has not arrived.
std::size_t http_header_size(std::string_view bytes);

// Largest message within a request; it keeps the header far below what servers accept (8 KiB).
inline constexpr std::size_t kMaxEarlyBytes = 3072;

struct Answer {
  std::string text;        // to send
  Status status;           // not ok: then close
  std::string hello = {};  // the client's first message, if it came with the request
};
// The response of a server that has no place now, sent without reading the request. `why`: one line of text.
std::string refuse_for_now(const std::string& why);
// begins_tls(): whether these are the first bytes of TLS, for which a server without TLS would otherwise wait for the
// end of a header. answer_tls(): the response of such a server.
bool begins_tls(std::string_view bytes);
std::string answer_tls();
// The server's response. `request`: a whole header. `share_memory`: called if the client requests shared memory;
// returns whether it is granted. `origins`: pages that may connect, beside those that ws_origin.h allows.
Answer answer_upgrade(std::string_view request, const std::function<bool()>& share_memory = {},
                      std::span<const std::string> origins = {});

// make_key(): 16 random bytes in base64. upgrade_request(): the client's request. check_upgrade(): checks the response
// to it.
std::string make_key();
// `hello`: the first message, at most kMaxEarlyBytes; empty: it is sent later.
std::string upgrade_request(const std::string& host, const std::string& key, bool asks_for_shared_memory = false,
                            std::string_view hello = {});
struct Upgraded {
  bool shares_memory = false;
  bool took_hello = false;
};
Result<Upgraded> check_upgrade(std::string_view response, const std::string& key);

}  // namespace burn::net::ws
