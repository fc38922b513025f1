// Where the values of options come from: a file, the environment, the command line. A later one of these beats the
// earlier ones, and all beat the defaults of daemon/options.def.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "daemon/options.h"

namespace burn::daemon {

// An option as a source gives it.
struct GivenOption {
  Option option;
  std::vector<std::string> texts;  // of a list, all of them; of other kinds, one
  std::string origin;              // "--sessions", "BURN_SERVER_SESSIONS", "line 7 of /etc/burn/server.toml"
};

using GivenOptions = std::vector<GivenOption>;

// A file of TOML whose keys are flags without their dashes: sessions = 64, session-memory = "40G",
// allow-origin = ["https://a.example"]. Errors: INVALID_ARGUMENT with the file, the line, the key, and for a key that
// is no option of this daemon the nearest one; NOT_FOUND for a file that cannot be read.
Result<GivenOptions> read_option_file(Daemon daemon, const std::string& path);
// The same of the file's text; `path` is for messages.
Result<GivenOptions> parse_option_file(Daemon daemon, std::string_view text, const std::string& path);

// The flag, without its dashes, that takes the fewest changed letters to become one of this daemon's options; those
// that only a command line has, as --print-config, count `with_flags_alone`.
std::string_view nearest_option(Daemon daemon, std::string_view flag, bool with_flags_alone);

// "BURN_SERVER_" or "BURN_ROUTER_".
std::string_view environment_prefix(Daemon daemon);
// "BURN_SERVER_SESSION_LEASE"
std::string environment_name(Daemon daemon, Option option);

struct EnvironmentOptions {
  GivenOptions given;
  // Names with the prefix that are no option: Kubernetes makes such variables of the names of Services.
  std::vector<std::string> unknown;
};
// `variables`: "NAME=value" each, as environ has them. A list is given with commas between its texts; a flag is true,
// false, 1 or 0.
EnvironmentOptions read_option_environment(Daemon daemon, const char* const* variables);

// Puts what a source gives into `values`; a list replaces what it had. Errors, after which `values` may have a part of
// it: as OptionValues::set(), with the origin.
Status set_options(const GivenOptions& given, OptionValues& values);

}  // namespace burn::daemon
