// Asks the operator's port of a daemon, as the commands of the daemons' programs do.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/status.h"

namespace burn::daemon {

// Where the commands ask, and what units and images give --operator.
inline constexpr std::string_view kDefaultOperatorAddress = "127.0.0.1:3002";

struct OperatorAnswer {
  int status = 0;  // of HTTP
  std::string body;
};

// `address`: as --operator has it; 0.0.0.0 is this machine. Waits for the whole answer, for `timeout` at most.
// Errors: INVALID_ARGUMENT for an address that makes no sense; UNAVAILABLE when no daemon listens there;
// DEADLINE_EXCEEDED; DATA_LOSS for an answer that is cut off, or is none.
Result<OperatorAnswer> ask_operator(const std::string& address, std::string_view method, std::string_view path,
                                    std::chrono::milliseconds timeout);

}  // namespace burn::daemon
