// Operations of burn-dashboard on folders of runs, besides showing them.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "train/events/event.h"

namespace burn::dashboard_tool {

using Folders = std::vector<std::filesystem::path>;

// Writes a metric of every run as CSV: run,split,metric,kind,epoch,first_step,step,count,mean,min,max. Steps that a
// resumed run repeated are written once. Errors (thrown): NOT_FOUND if no run measures it; the message names the
// metrics that are measured; those of reading an event file.
void write_csv(const Folders& runs, const std::string& metric, std::ostream& out);

// Returns the runs that are not in progress and whose last event is more than `days` days old. A run without a
// readable event is left out, as its age is unknown.
Folders old_runs(const Folders& runs, double days);
// Removes the files that trainings write into a folder, and the folder itself if it is then empty. Returns the number
// of bytes removed.
std::uintmax_t remove_run(const std::filesystem::path& folder);

}  // namespace burn::dashboard_tool
