// The command line of a daemon: --help, --version and a flag for each option in daemon/options.def that the daemon has.
// Options can also come from a file and from the environment (daemon/option_source.h).
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
  std::vector<std::string> warnings;  // for the log, one line each
  // Set when the program has to exit with this code: after --help, --version, --print-config and --check-config, and
  // after an error. The output has been printed already.
  std::optional<int> exit_code;
};

// `environment`: strings "NAME=value", terminated by a null pointer; null: the environment of this process.
CommandLine parse_command_line(const Program& program, int argc, const char* const* argv,
                               const char* const* environment = nullptr);

// Evaluates the same command line again, reading the file of options again. Errors: those that would end the program at
// its start, in one sentence.
Result<OptionValues> read_options_again(const Program& program, int argc, const char* const* argv,
                                        const char* const* environment = nullptr);

// For Process: the current values, and, where a file of options is named, the function that reads them again.
ReadOptions read_again(const Program& program, const OptionValues& values, int argc, const char* const* argv);

// What --help prints: every option of the daemon with its default, and the environment variables (base/settings.def).
std::string help_text(const Program& program);

// docs/operate/options.md: every option, with the daemons that have it, its default and its text.
std::string options_markdown();

}  // namespace burn::daemon
