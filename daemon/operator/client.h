// A client for the operator's port of a daemon, used by the commands of the daemons' programs.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/status.h"

namespace burn::daemon {

// The default address for the commands; the packaged units and images pass it to --operator, too.
inline constexpr std::string_view kDefaultOperatorAddress = "127.0.0.1:3002";

struct OperatorAnswer {
  int status = 0;  // HTTP status code
  std::string body;
};

// `address`: in the form of --operator; 0.0.0.0 means this machine. Waits up to `timeout` for the whole answer. Errors:
// INVALID_ARGUMENT for an invalid address; UNAVAILABLE when no daemon listens there; DEADLINE_EXCEEDED; DATA_LOSS for
// an answer that is cut off or is not HTTP.
Result<OperatorAnswer> ask_operator(const std::string& address, std::string_view method, std::string_view path,
                                    std::chrono::milliseconds timeout);

}  // namespace burn::daemon
