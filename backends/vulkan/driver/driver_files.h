// The files that list the drivers for Vulkan's loader.
#pragma once

#include <string>
#include <vector>

namespace burn::backends::vulkan {

// Installed drivers whose library cannot be loaded, a line each: the file that names the driver, and the dynamic
// linker's message, such as "libX11.so.6: cannot open shared object file". Loads the libraries to find out.
std::vector<std::string> broken_drivers();

}  // namespace burn::backends::vulkan
