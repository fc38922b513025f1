// What burn-dashboard does with folders of runs besides showing them.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "train/events/event.h"

namespace burn::dashboard_tool {

using Folders = std::vector<std::filesystem::path>;

// Writes a metric of every run as CSV: run,split,metric,kind,epoch,first_step,step,count,mean,min,max. Steps that a
// resumed run made again are there once. Errors (thrown): NOT_FOUND where no run measures it, naming what is measured;
// those of reading an event file.
void write_csv(const Folders& runs, const std::string& metric, std::ostream& out);

// The runs that are not running and whose last event is more than so many days ago.
Folders old_runs(const Folders& runs, double days);
// Removes what trainings write into a folder, and the folder if nothing else is in it. Returns the bytes of it.
std::uintmax_t remove_run(const std::filesystem::path& folder);

}  // namespace burn::dashboard_tool
