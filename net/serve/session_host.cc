#include "net/serve/session_host.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/one_line.h"

namespace burn::net {
namespace {

// "0: cpu, 1: null"
std::string list(const std::vector<std::string>& names) {
  std::string all;
  for (std::size_t k = 0; k < names.size(); ++k) all += fmt::format("{}{}: {}", k == 0 ? "" : ", ", k, names[k]);
  return all;
}

}  // namespace

SessionHost::SessionHost() { throw_if_error(fill_randomly(std::as_writable_bytes(std::span{instance_}))); }

Result<std::string> SessionHost::device_of(const proto::Hello& hello) const {
  BURN_TRY(const auto index, find_device(devices(), hello));
  return devices()[index];
}

Result<std::uint32_t> find_device(const std::vector<std::string>& devices, const proto::Hello& hello) {
  if (hello.device_name.empty()) {
    if (hello.device < devices.size()) return hello.device;
    return not_found(fmt::format("there is no device {} here: the worker has {}", hello.device, list(devices)));
  }
  const auto found = std::ranges::find(devices, hello.device_name);
  if (found != devices.end()) return static_cast<std::uint32_t>(found - devices.begin());
  return not_found(
      fmt::format("there is no device {} here: the worker has {}", quoted(hello.device_name), list(devices)));
}

}  // namespace burn::net
