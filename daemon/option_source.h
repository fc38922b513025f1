// Sources of option values: a file, the environment, the command line. Each takes precedence over the ones before it,
// and all take precedence over the defaults in daemon/options.def.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "daemon/options.h"

namespace burn::daemon {

// An option with the value that a source sets.
struct GivenOption {
  Option option;
  std::vector<std::string> texts;  // all elements of a list; one text for other kinds
  std::string origin;              // "--sessions", "BURN_SERVER_SESSIONS", "line 7 of /etc/burn/server.toml"
};

using GivenOptions = std::vector<GivenOption>;

// Reads a TOML file whose keys are flags without their dashes: sessions = 64, session-memory = "40G", allow-origin =
// ["https://a.example"]. Errors: INVALID_ARGUMENT with the file, the line and the key, and, for an unknown key, the
// option with the nearest name; NOT_FOUND for a file that cannot be read.
Result<GivenOptions> read_option_file(Daemon daemon, const std::string& path);
// The same for the text of such a file; `path` is for messages.
Result<GivenOptions> parse_option_file(Daemon daemon, std::string_view text, const std::string& path);

// The option of this daemon whose flag, without dashes, has the smallest edit distance to `flag`.
// `with_command_line_only`: also consider options that only a command line can set, such as --print-config.
std::string_view nearest_option(Daemon daemon, std::string_view flag, bool with_command_line_only);

// "BURN_SERVER_" or "BURN_ROUTER_".
std::string_view environment_prefix(Daemon daemon);
// "BURN_SERVER_SESSION_LEASE"
std::string environment_name(Daemon daemon, Option option);

struct EnvironmentOptions {
  GivenOptions given;
  // Variables with the prefix that name no option: Kubernetes creates such variables for Services.
  std::vector<std::string> unknown;
};
// `variables`: strings "NAME=value", in the form of environ. The elements of a list are separated by commas; a flag is
// true, false, 1 or 0.
EnvironmentOptions read_option_environment(Daemon daemon, const char* const* variables);

// Stores the options of a source in `values`; a list replaces the previous list. Errors, after which some of the
// options may have been stored: those of OptionValues::set(), with the origin.
Status set_options(const GivenOptions& given, OptionValues& values);

}  // namespace burn::daemon
