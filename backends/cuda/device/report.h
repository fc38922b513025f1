// What this machine has of what CUDA devices need.
#pragma once

#include <string>
#include <vector>

namespace burn::backends::cuda {

// A fact a line, for people: the driver, each library or what is missing and what for, each device with its
// architecture and memory. Makes no device busy but for a moment.
std::vector<std::string> report();

}  // namespace burn::backends::cuda
