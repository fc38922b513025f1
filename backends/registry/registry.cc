#include "backends/registry/registry.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/cpu/cpu_backend.h"
#include "backends/null/null_backend.h"
#include "backends/registry/plugin.h"
#include "base/fork.h"
#include "base/parse_number.h"

namespace burn::backends {
namespace {

struct Registry {
  Registry() {
    lock_during_fork(mutex);
    kinds["cpu"] = {.name = "cpu", .open = [](int) { return open_cpu_backend(); }};
    kinds["null"] = {.name = "null", .devices = kNullDevices, .computes = false, .open = open_null_backend};
  }

  std::mutex mutex;
  std::map<std::string, BackendKind, std::less<>> kinds;
};

// Never destroyed: devices are opened by static objects of any order.
Registry& registry() {
  static auto& instance = *new Registry;
  return instance;
}

std::optional<int> number(std::string_view text) {
  const auto value = parse_number<int>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

std::string names() {
  std::set<std::string> all(plugin_kinds().begin(), plugin_kinds().end());
  for (const auto& kind : backend_kinds()) all.insert(kind.name);
  return fmt::format("{}", fmt::join(all, ", "));
}

bool is_plugin(std::string_view name) { return std::ranges::find(plugin_kinds(), name) != plugin_kinds().end(); }

}  // namespace

void register_backend(BackendKind kind) {
  auto& all = registry();
  const std::lock_guard lock(all.mutex);
  auto name = kind.name;
  all.kinds[std::move(name)] = std::move(kind);
}

std::vector<BackendKind> backend_kinds() {
  auto& all = registry();
  const std::lock_guard lock(all.mutex);
  std::vector<BackendKind> kinds;
  kinds.reserve(all.kinds.size());
  for (const auto& [name, kind] : all.kinds) kinds.push_back(kind);
  return kinds;
}

Result<BackendKind> backend_kind(std::string_view name) {
  const auto known = [&]() -> std::optional<BackendKind> {
    auto& all = registry();
    const std::lock_guard lock(all.mutex);
    const auto found = all.kinds.find(name);
    return found == all.kinds.end() ? std::nullopt : std::optional(found->second);
  };
  if (auto kind = known()) return *std::move(kind);
  if (!is_plugin(name)) return not_found(fmt::format("there is no backend \"{}\"; there are: {}", name, names()));
  BURN_TRY(auto loaded, load_plugin(name));
  register_backend(loaded);
  return loaded;
}

Result<std::unique_ptr<Backend>> open_backend(std::string_view device) {
  const auto colon = device.find(':');
  const auto name = device.substr(0, colon);
  auto index = colon == std::string_view::npos ? 0 : number(device.substr(colon + 1));
  BURN_TRY(const auto kind, backend_kind(name));
  if (!index && kind.find) {
    BURN_TRY(index, kind.find(device.substr(colon + 1)));
  }
  if (!index) return invalid_argument(fmt::format("device \"{}\" is not {} or {}:NUMBER", device, name, name));
  if (*index >= kind.devices) {
    const auto last = kind.devices - 1;
    return not_found(last == 0 ? fmt::format("no device \"{}\": of this kind there is only {}:0 here", device, name)
                               : fmt::format("no device \"{}\": there are {}:0 to {}:{}", device, name, name, last));
  }
  return kind.open(*index);
}

Result<std::vector<std::string>> parse_devices(std::string_view list) {
  constexpr std::string_view kAll = ":all";
  std::vector<std::string> devices;
  const auto add = [&](std::string device) -> Status {
    if (std::ranges::find(devices, device) != devices.end())
      return invalid_argument(fmt::format("devices \"{}\": {} is named twice", list, device));
    devices.push_back(std::move(device));
    return {};
  };
  std::string_view kind;
  for (std::size_t begin = 0; begin <= list.size();) {
    const auto end = std::min(list.find(',', begin), list.size());
    const auto item = list.substr(begin, end - begin);
    begin = end + 1;
    if (item.empty()) return invalid_argument(fmt::format("an empty name among the devices \"{}\"", list));
    const bool is_index = number(item).has_value();
    if (is_index && kind.empty()) {
      return invalid_argument(fmt::format("devices \"{}\": {} follows no kind of device", list, item));
    }
    if (!is_index) kind = item.substr(0, item.find(':'));
    if (!is_index && item.substr(kind.size()) == kAll) {
      BURN_TRY(const auto found, backend_kind(kind));
      for (int index = 0; index < found.devices; ++index) BURN_RETURN_IF_ERROR(add(fmt::format("{}:{}", kind, index)));
    } else {
      BURN_RETURN_IF_ERROR(add(is_index ? fmt::format("{}:{}", kind, item) : std::string(item)));
    }
  }
  return devices;
}

}  // namespace burn::backends
