// The files that tell Vulkan's loader which drivers there are.
#pragma once

#include <string>
#include <vector>

namespace burn::backends::vulkan {

// Drivers that are installed and do not start, a line each: the file that names one, and what the system's linker says
// of its library, as "libX11.so.6: cannot open shared object file". Loads the libraries to find out.
std::vector<std::string> broken_drivers();

}  // namespace burn::backends::vulkan
