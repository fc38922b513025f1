// Commands of a daemon's program that query or control a running daemon through its operator's port.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace burn::daemon {

// The part of --help about these commands.
std::string operator_commands_help(std::string_view program);

// Runs "probe [ready|health|startup]", "status", "drain", "log-level LEVEL" or "close SESSION", each with --operator
// ADDRESS and --timeout SECONDS. Prints the answer: to stdout, or to stderr if it is a refusal or an error. Returns the
// exit code: 0 if the daemon agreed, 1 if not, 2 for invalid arguments; std::nullopt if the first argument is not such
// a command.
std::optional<int> run_operator_command(std::string_view program, int argc, const char* const* argv);

}  // namespace burn::daemon
