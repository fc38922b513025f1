#include "server/check.h"

#include <fmt/format.h>

#include "backends/registry/plugin.h"
#include "backends/registry/registry.h"
#include "base/cache_folder.h"
#include "base/settings.h"

namespace burn::server {
namespace {

std::string cache_line() {
  const auto folder = cache_folder();
  if (folder.empty()) return "cache: none, as neither XDG_CACHE_HOME nor HOME is set; kernels are made anew each time";
  const auto status = CacheFolder(folder).check_writable();
  if (status.ok()) return fmt::format("cache: {}, can be written", folder);
  return fmt::format("cache: {}, cannot be written; kernels are made anew each time: {}", folder, status.message());
}

}  // namespace

MachineCheck check_machine(const std::string& devices) {
  MachineCheck found;
  const auto say = [&]<typename... T>(fmt::format_string<T...> format, T&&... what) {
    found.lines.push_back(fmt::format(format, std::forward<T>(what)...));
  };
  for (const auto& kind : backends::backend_kinds()) {
    if (!kind.report) say("{}: {}", kind.name, kind.origin);
  }
  for (const auto name : backends::plugin_kinds()) {
    const auto kind = backends::backend_kind(name);
    if (!kind.ok()) {
      say("{}: {}", name, kind.status().message());
      continue;
    }
    say("{}: plug-in {}", name, kind->origin);
    if (!kind->report) continue;
    for (const auto& line : kind->report()) say("{}: {}", name, line);
  }
  found.lines.push_back(cache_line());

  const auto refuse = [&](const Status& why) {
    say("cannot serve: {}", why.message());
    found.can_serve = false;
  };
  if (const auto settings = check_settings(); !settings.ok()) refuse(settings);
  const auto asked = backends::parse_devices(devices);
  if (!asked.ok()) {
    refuse(asked.status());
    return found;
  }
  for (const auto& device : *asked) {
    const auto backend = backends::open_backend(device);
    if (!backend.ok()) {
      refuse(Status(backend.status().code(), fmt::format("{}: {}", device, backend.status().message())));
      continue;
    }
    say("can serve: {}, {:.0f} MiB of memory", device,
        static_cast<double>((*backend)->limits().memory_bytes) / (1 << 20));
  }
  return found;
}

}  // namespace burn::server
