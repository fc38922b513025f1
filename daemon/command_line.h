// The command line of a daemon: a flag for each option of daemon/options.def that it has, --help and --version. Options
// come from a file and from the environment as well (daemon/option_source.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "daemon/options.h"
#include "daemon/reload.h"

namespace burn::daemon {

struct Program {
  Daemon daemon;
  std::string name;         // "burn-server"
  std::string version;      // the answer to --version
  std::string description;  // the first line of --help
};

struct CommandLine {
  OptionValues values;
  std::vector<std::string> warnings;  // for the log, a line each
  // Set when the program is to end with it: after --help, --version, --print-config and --check-config, and after an
  // error. What there was to print is printed.
  std::optional<int> exit_code;
};

// `environment`: "NAME=value" each, the last one null; null: this process's.
CommandLine parse_command_line(const Program& program, int argc, const char* const* argv,
                               const char* const* environment = nullptr);

// The values that the same command line has now: its file of options is read again. Errors: those that would have ended
// the program at its start, in one sentence.
Result<OptionValues> read_options_again(const Program& program, int argc, const char* const* argv,
                                        const char* const* environment = nullptr);

// For Process: the values that hold, and how to read them again where a file of options is named.
ReadOptions read_again(const Program& program, const OptionValues& values, int argc, const char* const* argv);

// What --help prints: every option of the daemon with its default, and the environment variables (base/settings.def).
std::string help_text(const Program& program);

// docs/operate/options.md: every option, with the daemons that have it, its default and its text.
std::string options_markdown();

}  // namespace burn::daemon
