#include "backends/vulkan/driver/vulkan.h"

#include <cstring>
#include <mutex>

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/vulkan/driver/driver_files.h"
#include "backends/vulkan/driver/validation.h"
#include "base/settings.h"

namespace burn::backends::vulkan {
namespace {

struct Loaded {
  PFN_vkGetInstanceProcAddr find = nullptr;
  InstanceFunctions functions;
  VkInstance instance = VK_NULL_HANDLE;
  std::uint32_t version = VK_API_VERSION_1_0;
};
Loaded loaded;

// The NVIDIA driver gives no more detail than this if X libraries that it is linked with are missing.
constexpr const char* kNoDriver =
    "no driver starts: install the driver of the device, or mesa-vulkan-drivers for one that computes on the CPU. The "
    "driver of NVIDIA needs libX11.so.6, libXext.so.6 and libglvnd, also where there is no screen; VK_DRIVER_FILES has "
    "to name files that are there";

Status load() {
  const auto chosen = setting(Setting::vulkan_loader);
  void* const library = dlopen(chosen.empty() ? "libvulkan.so.1" : chosen.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return failed_precondition(fmt::format("Vulkan: the loader is not there (Debian's package libvulkan1): {}",
                                           dlerror()));  // NOLINT(concurrency-mt-unsafe): glibc keeps one per thread
  const auto find = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
  if (!find) return failed_precondition("Vulkan: the loader has no vkGetInstanceProcAddr");
  loaded.find = find;
#define FN(name) loaded.functions.name = reinterpret_cast<PFN_vk##name>(find(nullptr, "vk" #name));
  BURN_VULKAN_GLOBAL(FN)
#undef FN
  if (loaded.functions.EnumerateInstanceVersion) loaded.functions.EnumerateInstanceVersion(&loaded.version);
  if (loaded.version < VK_API_VERSION_1_3)
    return failed_precondition(fmt::format("Vulkan: the loader is of version {}.{}, 1.3 is needed",
                                           VK_API_VERSION_MAJOR(loaded.version), VK_API_VERSION_MINOR(loaded.version)));
  const VkApplicationInfo application{
      .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .pApplicationName = "burn", .apiVersion = VK_API_VERSION_1_3};
  VkInstanceCreateInfo info{.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
  const bool is_validated = is_on(Setting::vulkan_validation);
  const Validation validation;
  if (is_validated) BURN_RETURN_IF_ERROR(validation.add_to(info, loaded.functions));
  const auto result = loaded.functions.CreateInstance(&info, nullptr, &loaded.instance);
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER || result == VK_ERROR_INITIALIZATION_FAILED) {
    const auto broken = broken_drivers();
    return failed_precondition(fmt::format("Vulkan: {} ({}){}{}", kNoDriver, name_of(result),
                                           broken.empty() ? "" : ": ", fmt::join(broken, "; ")));
  }
  BURN_RETURN_IF_ERROR(check(result, "making an instance"));
#define FN(name)                                                                             \
  loaded.functions.name = reinterpret_cast<PFN_vk##name>(find(loaded.instance, "vk" #name)); \
  if (!loaded.functions.name) return failed_precondition("Vulkan: the loader has no vk" #name);
  BURN_VULKAN_INSTANCE(FN)
#undef FN
  return is_validated ? validation.watch(loaded.instance, find) : Status{};
}

}  // namespace

DeviceFunctions::DeviceFunctions(VkDevice device) {
  const auto find = instance_functions().GetDeviceProcAddr;
#define FN(name) name = reinterpret_cast<PFN_vk##name>(find(device, "vk" #name));
  BURN_VULKAN_DEVICE(FN)
#undef FN
}

const Status& load_vulkan() {
  static std::once_flag once;
  static Status status;
  std::call_once(once, [] { status = load(); });
  return status;
}

const InstanceFunctions& instance_functions() { return loaded.functions; }
VkInstance vulkan_instance() { return loaded.instance; }
PFN_vkVoidFunction find_instance_function(const char* name) { return loaded.find(loaded.instance, name); }
std::uint32_t loader_version() { return loaded.version; }

const char* name_of(VkResult result) {
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      return "out of host memory";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      return "out of device memory";
    case VK_ERROR_INITIALIZATION_FAILED:
      return "initialisation failed";
    case VK_ERROR_DEVICE_LOST:
      return "the device is lost";
    case VK_ERROR_MEMORY_MAP_FAILED:
      return "memory cannot be mapped";
    case VK_ERROR_LAYER_NOT_PRESENT:
      return "a layer is not there";
    case VK_ERROR_EXTENSION_NOT_PRESENT:
      return "an extension is not there";
    case VK_ERROR_FEATURE_NOT_PRESENT:
      return "a feature is not there";
    case VK_ERROR_INCOMPATIBLE_DRIVER:
      return "incompatible driver";
    case VK_ERROR_TOO_MANY_OBJECTS:
      return "too many objects";
    default:
      return "error";
  }
}

Status check(VkResult result, const char* what) {
  if (result >= VK_SUCCESS) return {};
  auto message = fmt::format("Vulkan: {}: {} ({})", what, name_of(result), static_cast<int>(result));
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_TOO_MANY_OBJECTS:
      return resource_exhausted(std::move(message));
    case VK_ERROR_DEVICE_LOST:
      return unavailable(std::move(message));
    default:
      return internal_error(std::move(message));
  }
}

}  // namespace burn::backends::vulkan
