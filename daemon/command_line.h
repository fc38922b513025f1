// The command line of a daemon: a flag for each option of daemon/options.def that it has, and --help and --version.
#pragma once

#include <optional>
#include <string>

#include "daemon/options.h"

namespace burn::daemon {

struct Program {
  Daemon daemon;
  std::string name;         // "burn-server"
  std::string version;      // the answer to --version
  std::string description;  // the first line of --help
};

struct CommandLine {
  OptionValues values;
  // Set when the program is to end with it: after --help and --version, and after an error. What there was to print is
  // printed.
  std::optional<int> exit_code;
};

CommandLine parse_command_line(const Program& program, int argc, const char* const* argv);

// What --help prints: every option of the daemon with its default, and the environment variables (base/settings.def).
std::string help_text(const Program& program);

}  // namespace burn::daemon
