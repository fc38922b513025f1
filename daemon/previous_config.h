// The previous version of the file of options. A running process saves the text that was in effect before the last
// change, and --rollback restores it.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "daemon/options.h"

namespace burn::daemon {

// The path to which a process saves the previous text: CONFIG.previous, or, if the service manager provides a state
// folder (STATE_DIRECTORY), the same file name there, because the process may not be allowed to write to the folder of
// CONFIG.
std::string previous_config_path(const std::string& config, const char* const* environment);

// Reads the text of a file of options. Errors: UNAVAILABLE; INVALID_ARGUMENT for a path that is not a regular file, or
// a file of more than 1 MiB.
Result<std::string> read_config(const std::string& path);
// Replaces the file atomically. Errors: UNAVAILABLE, with the path and the reason.
Status write_config(const std::string& path, const std::string& text);

// Replaces the file `config`, or the target if it is a link, with the newest of the files `kept`. That must be a
// regular file with valid options of this daemon. Owner and mode of `config` are preserved. Returns the path of the
// file that was restored. Errors: NOT_FOUND if there is none; those of read_option_file(); UNAVAILABLE.
Result<std::string> roll_back(Daemon daemon, const std::string& config, const std::vector<std::string>& kept);
// All paths to which a process of this daemon may have saved the previous `config`: the one of previous_config_path(),
// and those in the state folders of the packaged units.
std::vector<std::string> previous_config_paths(Daemon daemon, const std::string& config,
                                               const char* const* environment);

}  // namespace burn::daemon
