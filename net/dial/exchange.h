// One request to a server that closes the connection after its answer, as HTTP/1.1 servers do when asked to.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/status.h"

namespace burn::net {

// Sends `request` to "HOST:PORT" or "unix:PATH" and returns everything received until the server closes. Waits for
// `timeout` at most. Errors: INVALID_ARGUMENT for a malformed address; UNAVAILABLE where nothing listens, or when the
// connection is lost; DEADLINE_EXCEEDED; DATA_LOSS for an answer of more than 16 MiB.
Result<std::string> exchange(const std::string& address, std::string_view request, std::chrono::milliseconds timeout);

}  // namespace burn::net
