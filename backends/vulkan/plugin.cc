// What libburn_vulkan.so exports to the program that loads it.
#include "backends/registry/plugin.h"

#include "backends/vulkan/device/device.h"
#include "backends/vulkan/driver/adapters.h"
#include "backends/vulkan/runtime/vulkan_backend.h"

extern "C" [[gnu::visibility("default")]] const burn::backends::Plugin burn_plugin;
const burn::backends::Plugin burn_plugin{
    .version = BURN_VERSION,
    .device_count = burn::backends::vulkan::device_count,
    .open = burn::backends::vulkan::open_vulkan_backend,
    .report = burn::backends::vulkan::report,
    .find = burn::backends::vulkan::find_adapter,
};
