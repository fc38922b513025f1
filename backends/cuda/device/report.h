// Describes what this machine has of what CUDA devices need.
#pragma once

#include <string>
#include <vector>

namespace burn::backends::cuda {

// One fact per line, for users: the driver, each library or what is missing and what it is needed for, each device with
// its architecture and memory. Uses the devices only for a moment.
std::vector<std::string> report();

}  // namespace burn::backends::cuda
