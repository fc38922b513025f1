// The file of options that held before the last reload: a process keeps its text, and --rollback puts it back.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "daemon/options.h"

namespace burn::daemon {

// Where a process keeps the text: CONFIG.previous, or, where a service manager has given it a folder of its own
// (STATE_DIRECTORY), the same name there, as the folder of CONFIG is not the process's to write to.
std::string kept_config_path(const std::string& config, const char* const* environment);

// The text of a file of options. Errors: UNAVAILABLE; INVALID_ARGUMENT for what is no regular file, or has over 1 MiB.
Result<std::string> read_config(const std::string& path);
// Replaces the file as a whole. Errors: UNAVAILABLE, with the path and the reason.
Status keep_config(const std::string& path, const std::string& text);

// Replaces the file `config`, or what it is a link to, by the newest of the files `kept`, which must be a regular file
// with options of this daemon; its owner and mode stay. Returns which file that was. Errors: NOT_FOUND where there is
// none, as read_option_file(), UNAVAILABLE.
Result<std::string> roll_back(Daemon daemon, const std::string& config, const std::vector<std::string>& kept);
// The files in which a process of this daemon may have kept `config`: that of kept_config_path(), and those in the
// folders of the packages' units.
std::vector<std::string> kept_configs(Daemon daemon, const std::string& config, const char* const* environment);

}  // namespace burn::daemon
