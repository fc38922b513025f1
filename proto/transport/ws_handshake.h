// How an HTTP connection becomes a WebSocket (RFC 6455, section 4). Text in, text out; no sockets.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace burn::proto::ws {

// Where the header of a request or response ends: the length of it, or 0 when its end has not come.
std::size_t http_header_size(std::string_view bytes);

struct Answer {
  std::string text;  // to send
  Status status;     // not ok: then close
};
// The server's side. `request` is a whole header.
Answer answer_upgrade(std::string_view request);

// The client's side: 16 random bytes in base64; the request; whether the response accepts it.
std::string make_key();
std::string upgrade_request(const std::string& host, const std::string& key);
Status check_upgrade(std::string_view response, const std::string& key);

}  // namespace burn::proto::ws
