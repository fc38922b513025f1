#include "backends/registry/plugin.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/settings.h"

namespace burn::backends {
namespace {

constexpr std::array<std::string_view, 2> kKinds{"cuda", "vulkan"};

std::vector<std::string> folders() {
  std::vector<std::string> all;
  if (auto chosen = setting(Setting::plugins); !chosen.empty()) all.push_back(std::move(chosen));
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  if (!program.empty()) {
    all.push_back(program.parent_path().string());
    all.push_back((program.parent_path().parent_path() / "lib").string());
  }
  all.emplace_back(BURN_PLUGIN_FOLDER);
  return all;
}

}  // namespace

std::span<const std::string_view> plugin_kinds() { return kKinds; }

Result<BackendKind> load_plugin(std::string_view kind) {
  const auto file = fmt::format("libburn_{}.so", kind);
  void* library = nullptr;
  std::vector<std::string> tried;
  const auto try_path = [&](const std::string& path) {
    if (library) return;
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    // NOLINTNEXTLINE(concurrency-mt-unsafe): glibc keeps the message for each thread
    if (!library) tried.emplace_back(dlerror());
  };
  for (const auto& folder : folders()) {
    const auto path = std::filesystem::path(folder) / file;
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored))
      try_path(path.string());
    else
      tried.push_back(folder + ": no such file");
  }
  try_path(file);
  if (!library)
    return not_found(
        fmt::format("the {} backend is not installed: {} was looked for: {}", kind, file, fmt::join(tried, "; ")));

  const auto* plugin = static_cast<const Plugin*>(dlsym(library, "burn_plugin"));
  if (!plugin || std::string_view(plugin->version) != BURN_VERSION) {
    return failed_precondition(fmt::format("{} is of version {}, this program of {}", file,
                                           plugin ? plugin->version : "unknown", BURN_VERSION));
  }
  Dl_info from{};
  const bool is_known = dladdr(plugin, &from) != 0 && from.dli_fname;
  const auto count = plugin->device_count();
  return BackendKind{.name = std::string(kind),
                     .devices = std::max(count, 1),  // opening a device that is not there says why
                     .open = plugin->open,
                     .origin = is_known ? from.dli_fname : file,
                     .report = plugin->report,
                     .find = plugin->find};
}

}  // namespace burn::backends
