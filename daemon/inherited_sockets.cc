#include "daemon/inherited_sockets.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "base/one_line.h"
#include "daemon/environment.h"

namespace burn::daemon {
namespace {

constexpr int kFirst = 3;  // SD_LISTEN_FDS_START: after standard input, output and error
constexpr std::uint64_t kMaxSockets = 64;

struct Named {
  std::string_view name;
  Option option;
};
constexpr std::array kNames{Named{"ws", Option::ws}, Named{"grpc", Option::grpc}, Named{"unix", Option::unix_path},
                            Named{"grpc-unix", Option::grpc_unix_path}, Named{"operator", Option::operator_address}};

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(':', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

Result<GivenOptions> read_inherited_sockets(const char* const* variables) {
  if (environment_value("LISTEN_PID", variables) != std::to_string(::getpid())) return GivenOptions{};
  const auto text = environment_value("LISTEN_FDS", variables);
  const auto count = parse_number_of(OptionInfo::Kind::count, text);
  if (!count || *count > kMaxSockets) {
    return invalid_argument(
        fmt::format("LISTEN_FDS: a number of sockets, at most {}, not {}", kMaxSockets, quoted(text)));
  }
  const auto names = split(environment_value("LISTEN_FDNAMES", variables));
  GivenOptions given;
  for (std::size_t k = 0; k < *count; ++k) {
    const auto name = k < names.size() ? names[k] : std::string_view{};
    const auto found = std::ranges::find(kNames, name, &Named::name);
    if (found == kNames.end()) {
      return invalid_argument(fmt::format(
          "socket {} of the service manager has the name {}: FileDescriptorName is ws, grpc, unix, grpc-unix "
          "or operator",
          k + 1, quoted(name)));
    }
    if (std::ranges::find(given, found->option, &GivenOption::option) != given.end())
      return invalid_argument(fmt::format("the service manager gives two sockets with the name {}", name));
    auto& socket = given.emplace_back();
    socket.option = found->option;
    socket.texts.push_back(fmt::format("fd:{}", kFirst + k));
    socket.origin = "the service manager";
  }
  return given;
}

}  // namespace burn::daemon
