#include "backends/vulkan/driver/driver_files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

#include <dlfcn.h>
#include <fmt/format.h>

namespace burn::backends::vulkan {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxBytes = 1 << 16;  // of a driver file

// The driver files that VK_DRIVER_FILES lists, or those in the folders that the loader searches for all users.
std::vector<fs::path> driver_files() {
  const char* chosen = std::getenv("VK_DRIVER_FILES");  // NOLINT(concurrency-mt-unsafe): no thread writes it
  if (!chosen || !*chosen) chosen = std::getenv("VK_ICD_FILENAMES");  // NOLINT(concurrency-mt-unsafe): the same
  std::vector<fs::path> files;
  if (chosen && *chosen) {
    std::stringstream list(chosen);
    for (std::string one; std::getline(list, one, ':');) files.emplace_back(one);
    return files;
  }
  for (const char* folder : {"/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/usr/share/vulkan/icd.d"}) {
    std::error_code why;
    for (fs::directory_iterator it(folder, why), end; !why && it != end; it.increment(why)) {
      if (it->path().extension() == ".json") files.push_back(it->path());
    }
  }
  std::ranges::sort(files);
  return files;
}

// The value of "library_path" in a driver file.
std::optional<std::string> library_of(const fs::path& file) {
  std::error_code why;
  if (const auto size = fs::file_size(file, why); why || size > kMaxBytes) return std::nullopt;
  std::ostringstream content;
  content << std::ifstream(file).rdbuf();
  const std::string text = content.str();
  constexpr std::string_view kKey = "\"library_path\"";
  const auto key = text.find(kKey);
  if (key == std::string::npos) return std::nullopt;
  const auto begin = text.find('"', key + kKey.size());
  const auto end = begin == std::string::npos ? begin : text.find('"', begin + 1);
  if (end == std::string::npos) return std::nullopt;
  const fs::path library = text.substr(begin + 1, end - begin - 1);
  const bool is_beside = library.is_relative() && library.has_parent_path();
  return (is_beside ? file.parent_path() / library : library).string();
}

}  // namespace

std::vector<std::string> broken_drivers() {
  std::vector<std::string> lines;
  for (const auto& file : driver_files()) {
    const auto library = library_of(file);
    if (!library) {
      lines.push_back(fmt::format("{} names no library of a driver", file.string()));
      continue;
    }
    if (void* const opened = dlopen(library->c_str(), RTLD_LAZY | RTLD_LOCAL)) {
      dlclose(opened);
      continue;
    }
    lines.push_back(fmt::format("the driver of {} does not start: {}", file.string(),
                                dlerror()));  // NOLINT(concurrency-mt-unsafe): glibc keeps one per thread
  }
  return lines;
}

}  // namespace burn::backends::vulkan
