// Commands of a daemon's program that ask a daemon which runs already, by its operator's port.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace burn::daemon {

// For --help.
std::string operator_commands_help(std::string_view program);

// "probe [ready|health|startup]", "status" or "drain", each with --operator ADDRESS and --timeout SECONDS. Prints the
// answer: to stdout, or to stderr what refuses or fails. The exit code: 0 when the answer is a yes; 1; 2 for arguments
// that make no sense. None when the first argument is no such command.
std::optional<int> run_operator_command(std::string_view program, int argc, const char* const* argv);

}  // namespace burn::daemon
